// SPDX-License-Identifier: BSD-3-Clause
// The runtime's lock, and what it asks of the system. What is hard: a process that was forked is no longer
// registered for fences on some kernels. Layer: mpi. docs/design/threads.md

#include "mpi/process/lock.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "core/expects.hpp"
#include "core/pause.hpp"

namespace starling::mpi {
namespace {

/// How often a thread gives its core away before it sleeps between two looks.
constexpr std::uint32_t kYields = 64;

void look_later() noexcept {
  constexpr timespec kTime{0, 20'000};
  ::nanosleep(&kTime, nullptr);
}

bool register_for_fences() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
bool fence() noexcept { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

[[gnu::cold, gnu::noinline]] std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

void LockKernel::pause(std::uint32_t round) noexcept {
  for (std::uint32_t i = 0; i < (1u << round); ++i) pause_cpu();
}

void LockKernel::yield(std::uint32_t round) noexcept {
  if (round < kYields) {
    ::sched_yield();
  } else {
    look_later();
  }
}

void LockKernel::sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void LockKernel::wake_one(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void LockKernel::fence_all() noexcept {
  if (fence()) return;
  expects(register_for_fences() && fence(), "membarrier works as it did when the lock was enabled");
}

void BigLock::enable() noexcept {
  if (enabled()) return;
  // Without membarrier every thread takes the word.
  if (register_for_fences() && fence()) core_.allow_bias();
  enabled_.store(true, std::memory_order_release);
}

[[gnu::tls_model("initial-exec")]] constinit thread_local BigLock::Id BigLock::number_ = 0;

BigLock::Id BigLock::self() noexcept {
  if (number_ == 0) [[unlikely]]
    number_ = next_number();
  return number_;
}

void BigLock::acquire() noexcept {
  const Id me = self();
  if (owner_.load(std::memory_order_relaxed) == me) {
    ++more_;
    return;
  }
  if (!core_.enter(me)) [[unlikely]]
    core_.enter_slowly(me);
  hold(me);
  ++turns_;
}

void BigLock::release() noexcept {
  if (more_ != 0) {
    --more_;
    return;
  }
  owner_.store(0, std::memory_order_relaxed);
  core_.leave();
}

bool BigLock::acquire_within(std::uint64_t ns) noexcept {
  if (held_by_me()) {
    ++more_;
    return true;
  }
  const Deadline deadline = Deadline::after_ns(ns);
  const auto again = [&] {
    look_later();
    return !deadline.passed();
  };
  if (!core_.enter_first(self(), again)) return false;
  hold(self());
  return true;
}

}  // namespace starling::mpi
