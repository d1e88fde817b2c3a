// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Process sets. Layer: mpi. MPI 5.0 section 11.3.2.
///
/// Threads: under the runtime's lock, while the runtime is open.

#include <string>
#include <string_view>
#include <vector>

#include "mpi/group/group.hpp"

namespace starling::mpi {

/// The process sets that every session has, in the order of MPI_Session_get_nth_pset.
[[nodiscard]] std::vector<std::string> process_sets();
/// The members of a process set, or empty for an unknown name. "mpi://world" in any case of letters.
[[nodiscard]] Ref<Group> group_of_process_set(std::string_view name);

}  // namespace starling::mpi
