// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Hints of communicators: which are known, and what they are where nobody has said. Layer: mpi.
/// MPI 5.0 sections 7.4.4, 11.4.3.
///
/// The assertions make nothing faster yet, but the standard wants those that a library knows to be told with
/// their defaults; others are ignored, and so is a value that is neither true nor false. Threads: any.

#include "mpi/info/info.hpp"

namespace starling::mpi {

/// Kinds of memory that buffers may be of: those that every library has.
inline constexpr std::string_view kMemoryKindsKey = "mpi_memory_alloc_kinds";
inline constexpr std::string_view kMemoryKinds = "mpi,system";

/// What counts of hints that a user gives; null: empty.
[[nodiscard]] Ref<Info> known_hints(const Info* given);

/// All hints of a communicator that has been given `known` (or null), for a new info object.
[[nodiscard]] Info::Entries hints_in_use(const Info* known);

}  // namespace starling::mpi
