// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How many processors the processes of a job share on this node. Layer: mpi.

#include <cstddef>

namespace starling::mpi {

/// Processors that this process or who started it may run on; at least 1. A launcher may bind each process to
/// one of them, but is itself where a container, a batch system or taskset has put the job.
[[nodiscard]] std::size_t cores_of_job() noexcept;

}  // namespace starling::mpi
