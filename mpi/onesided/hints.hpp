// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Hints of windows: which are known, and what they are where nobody has said. Layer: mpi.
/// MPI 5.0 sections 12.2.1, 12.2.3. Threads: any.

#include <cstdint>

#include "mpi/info/info.hpp"

namespace starling::mpi {

/// What counts of hints that a user gives; null: empty.
[[nodiscard]] Ref<Info> known_window_hints(const Info* given);
/// All hints of a window of this flavour that has been given `known` (or null).
[[nodiscard]] Info::Entries window_hints_in_use(const Info* known, int flavor);

/// alloc_shared_noncontig=true
[[nodiscard]] bool wants_noncontiguous(const Info* given);
/// no_locks=true
[[nodiscard]] bool wants_no_locks(const Info* given);
/// mpi_minimum_memory_alignment, if it is a power of two up to a page; else 1.
[[nodiscard]] std::uint64_t wanted_alignment(const Info* given);

}  // namespace starling::mpi
