// SPDX-License-Identifier: BSD-3-Clause
// Waiting for the runtime's lock. What is hard: a mutex is usually taken again by the thread that gave it
// back, long before one that was woken runs; two threads that test in a loop could keep a third one out for a
// tenth of a second. Layer: mpi.

#include "mpi/process/lock.hpp"

#include <pthread.h>
#include <time.h>

namespace starling::mpi {
namespace {

constexpr std::uint64_t kPatienceNs = 100'000;

bool lock_within(std::mutex& mutex, std::uint64_t ns) noexcept {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  const std::uint64_t end_ns = static_cast<std::uint64_t>(until.tv_nsec) + ns;
  until.tv_sec += static_cast<time_t>(end_ns / 1'000'000'000);
  until.tv_nsec = static_cast<long>(end_ns % 1'000'000'000);
  return ::pthread_mutex_timedlock(mutex.native_handle(), &until) == 0;
}

}  // namespace

void BigLock::acquire_slowly() noexcept {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  // Somebody starves: come after it. It holds turn_ until it has the lock.
  if (starving_.load(std::memory_order_relaxed)) const std::scoped_lock after(turn_);
  if (!lock_within(mutex_, kPatienceNs)) {
    const std::scoped_lock turn(turn_);
    starving_.store(true, std::memory_order_relaxed);
    mutex_.lock();
    starving_.store(false, std::memory_order_relaxed);
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

bool BigLock::acquire_within(std::uint64_t ns) noexcept {
  if (held_by_me()) {
    ++depth_;
    return true;
  }
  waiting_.fetch_add(1, std::memory_order_relaxed);
  bool had = false;
  if (lock_within(turn_, ns)) {
    starving_.store(true, std::memory_order_relaxed);
    had = lock_within(mutex_, ns);
    starving_.store(false, std::memory_order_relaxed);
    turn_.unlock();
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (had) {
    owner_.store(self(), std::memory_order_relaxed);
    depth_ = 1;
  }
  return had;
}

}  // namespace starling::mpi
