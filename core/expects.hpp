// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A check for bugs in Starling's own code. Layer: core.
///
/// `expects` is never used for what a user, a peer or a file can get wrong: those are Results or MPI errors.
/// Threads: any. Errors: prints the text with file and line, then aborts the process.

namespace starling {

[[noreturn]] void expectation_failed(const char* text, const char* file, int line) noexcept;

inline void expects(bool condition, const char* text, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) noexcept {
  if (!condition) [[unlikely]] {
    expectation_failed(text, file, line);
  }
}

}  // namespace starling
