// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process that outlives mpiexec by a moment, to end what a killed mpiexec leaves. Layer: tools.
///
/// The kernel kills a rank when its parent mpiexec dies, and an MPI program sees the end of its socket when
/// it calls MPI. Programs that a rank has started (behind a shell, say) and that only compute get neither.
/// The guard sleeps until mpiexec dies, then kills every process of this user that has the job's name in its
/// environment, and removes the paths that such processes may have left. A job's name is never used again,
/// so that no other process can be meant. SIGUSR1 it passes on, since both are called mpiexec in a list of
/// processes.
///
/// Threads:   made before any thread. Ownership: destroyed in order, it takes the process along.
/// Errors:    without it a job only loses this last resort, so that a failed fork is not reported.

#include <string>
#include <vector>

#include "core/unique_fd.hpp"

namespace starling::mpiexec {

class Guard {
 public:
  Guard(const std::string& job, const std::vector<std::string>& leftovers);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  UniqueFd process_;  ///< whoever reaps it first, its number is not used for another
};

}  // namespace starling::mpiexec
