// SPDX-License-Identifier: BSD-3-Clause
// Flushing C's streams in bounded time. Layer: core.
//
// Hard here: fflush has no time-out, and neither a full pipe nor a stream's lock can be asked how long it
// will take. So another thread does it, which is left behind where it is stuck: the process ends anyway.

#include "core/flush.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <stdio_ext.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>

namespace starling {
namespace {

void flush_standard_output() noexcept {
  if (::ftrylockfile(stdout) != 0) return;
  std::fflush(stdout);
  ::funlockfile(stdout);
}

void* flush_all(void* done) noexcept {
  flush_standard_output();  // first: a locked stream that comes before it must not keep it back
  std::fflush(nullptr);
  ::sem_post(static_cast<sem_t*>(done));
  return nullptr;
}

/// The program's signal handlers stay with the program's threads.
bool start(sem_t* done) noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool started = ::pthread_create(&thread, nullptr, &flush_all, done) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_detach(thread);
  return started;
}

/// Nobody has to read from a file.
bool is_a_file(std::FILE* stream) noexcept {
  struct stat facts {};
  return ::fstat(::fileno(stream), &facts) == 0 && S_ISREG(facts.st_mode);
}

}  // namespace

// A buffer of no size is one that the stream has not made yet; one of a single byte says "unbuffered".
void write_lines_at_once() noexcept {
  const std::size_t bytes = ::__fbufsize(stdout);
  if (bytes == 1 || bytes > BUFSIZ) return;
  (void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

bool flush_streams(std::uint64_t limit_ns) noexcept {
  auto* const done = new (std::nothrow) sem_t;  // never given back: the thread may outlive this call
  if (done == nullptr || ::sem_init(done, 0, 0) != 0) return false;
  if (!start(done)) {  // no thread can be had
    if (is_a_file(stdout)) flush_standard_output();
    return false;
  }
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  const std::uint64_t end_ns = static_cast<std::uint64_t>(until.tv_nsec) + limit_ns;
  until.tv_sec += static_cast<time_t>(end_ns / 1'000'000'000);
  until.tv_nsec = static_cast<long>(end_ns % 1'000'000'000);
  int waited = 0;
  do {
    waited = ::sem_clockwait(done, CLOCK_MONOTONIC, &until);
  } while (waited != 0 && errno == EINTR);
  return waited == 0;
}

}  // namespace starling
