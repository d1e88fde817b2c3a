// SPDX-License-Identifier: BSD-3-Clause
// Counting processors by affinity, which costs two system calls. Layer: mpi.

#include "mpi/runtime/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace starling::mpi {
namespace {

/// Of a process; 0 if that cannot be known.
std::size_t processors_of(pid_t process) noexcept {
  constexpr std::size_t kMost = 16384;
  cpu_set_t mask[kMost / CPU_SETSIZE];
  if (::sched_getaffinity(process, sizeof mask, mask) != 0) return 0;
  return static_cast<std::size_t>(CPU_COUNT_S(sizeof mask, mask));
}

}  // namespace

std::size_t cores_of_job() noexcept {
  const std::size_t known = std::max(processors_of(0), processors_of(::getppid()));
  return known != 0 ? known : static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace starling::mpi
