// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Keeps the calling process on one CPU: two sides of a measurement must not share one. Layer: bench.

#include <sched.h>

namespace starling::bench {

inline void pin(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace starling::bench
