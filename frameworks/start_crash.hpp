// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Names the plugin file in which a process crashes while it is loaded or created. Layer: framework.
///
/// A signal in a plugin's constructor looks to the launcher like a crash of the program. While a file is
/// opened, the signals of crashes are taken, the file is named on standard error, and the signal has its way:
/// with the handler that was there before, or by ending the process.
///
/// Threads:   one at a time; crashes of other threads go to the former handlers without a word.
/// Ownership: restores the former handlers.
/// Errors:    where handlers cannot be set, nothing is named.

#include <array>
#include <csignal>
#include <string_view>

namespace starling::plugin {

class StartCrash {
 public:
  /// `what` is "shm/posix"; `file` empty, a plugin that is linked in: does nothing.
  StartCrash(std::string_view what, std::string_view file) noexcept;
  ~StartCrash();
  StartCrash(const StartCrash&) = delete;
  StartCrash& operator=(const StartCrash&) = delete;

 private:
  static constexpr std::array<int, 5> kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  static void on_signal(int number, siginfo_t* info, void* context) noexcept;
  void restore() noexcept;

  std::array<struct sigaction, kSignals.size()> former_{};
  bool set_ = false;
};

}  // namespace starling::plugin
