// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The signals that mpiexec answers to. Layer: tools.
///
/// Threads: any. Errors: none.

#include <csignal>
#include <initializer_list>

namespace starling::mpiexec {

/// `signals`, but not SIGHUP where it is ignored: nohup has said so, and a signal that is blocked to be read
/// from a descriptor arrives though it is ignored.
[[nodiscard]] inline sigset_t handled_signals(std::initializer_list<int> signals) noexcept {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int signal : signals) ::sigaddset(&handled, signal);
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
    ::sigdelset(&handled, SIGHUP);
  return handled;
}

}  // namespace starling::mpiexec
