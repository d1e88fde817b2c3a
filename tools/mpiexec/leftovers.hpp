// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Names of shared memory that a job's processes leave behind when all are killed. Layer: tools.
///
/// Ranks that inherit their memory give it no name. With shm=posix the first to come makes one, and the last
/// to come takes it away: if they are killed before, nobody would, until another job looks.
///
/// Threads: functions of their arguments. Errors: what is not there, or not ours, is left alone.

#include <string>
#include <vector>

#include "params/registry.hpp"

namespace starling::mpiexec {

/// The paths that processes of such a job may have made on these nodes.
[[nodiscard]] std::vector<std::string> segment_paths(const params::Registry& params, const std::string& job,
                                                     std::size_t nodes);
/// Once no process of the job is left.
void remove_segments(const std::vector<std::string>& paths) noexcept;

}  // namespace starling::mpiexec
