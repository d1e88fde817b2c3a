// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Binding the calling thread to one processor. Layer: tests.

#include <sched.h>

#include <cstddef>
#include <vector>

namespace starling::test {

/// Those that this thread may run on, in order; none if the system does not tell.
inline std::vector<int> processors() {
  std::vector<int> allowed;
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return allowed;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(static_cast<std::size_t>(processor), &mask)) allowed.push_back(processor);
  return allowed;
}

/// False if the system refuses.
inline bool bind_to(int processor) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(processor), &mask);
  return ::sched_setaffinity(0, sizeof mask, &mask) == 0;
}

}  // namespace starling::test
