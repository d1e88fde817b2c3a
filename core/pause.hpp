// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  For loops that wait for another core. Layer: core. Threads: any.

namespace starling {

/// Tells the core that this thread only waits: the other one of a pair gets more of it. Some ten nanoseconds.
inline void pause_cpu() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace starling
