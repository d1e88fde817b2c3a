// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How many processors the processes of a job share on this node. Layer: mpi.

#include <cstddef>

namespace starling::mpi {

/// Processors allowed to this process or its launcher, at least 1. A launcher may bind a process to one of
/// them; the launcher's own mask shows what the job has.
[[nodiscard]] std::size_t cores_of_job() noexcept;

}  // namespace starling::mpi
