// SPDX-License-Identifier: BSD-3-Clause
// Threads that take no signals. Layer: core.

#include "core/service_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace starling {

Result<std::thread> start_service_thread(const char* name, std::function<void()> body) {
  std::thread thread;
  std::string refusal;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    refusal = error.what();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable()) return fail(Errc::system, "thread", "cannot be made: " + refusal);
  ::pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace starling
