// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Hints to the processor about cache lines. Layer: core.
/// Threads: any. Errors: none; an address that is not mapped is ignored.

namespace starling {

/// Fetches a line that will be written soon, and takes it from whichever cache has it. (The compiler's own
/// hint for writing becomes one for reading, unless it compiles for processors that surely have this
/// instruction. Other processors execute it without effect.)
inline void fetch_to_write(void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace starling
