// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Ending what a job that has failed leaves behind: processes that became children of this one. Layer:
/// tools.
///
/// Threads: one; this process is a subreaper. Errors: what cannot be killed within `ns` is left.

#include <cstdint>

namespace starling::mpiexec {

/// Kills and reaps children until there is none. Killing one may give us its children in turn.
void kill_children_for(std::uint64_t ns) noexcept;

}  // namespace starling::mpiexec
