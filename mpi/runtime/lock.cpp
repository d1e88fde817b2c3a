// SPDX-License-Identifier: BSD-3-Clause
// Waiting for the runtime's lock. What is hard: a mutex is usually taken again by the thread that gave it
// back, long before one that was woken runs; two threads that test in a loop could keep a third one out for a
// tenth of a second. Layer: mpi.

#include "mpi/runtime/lock.hpp"

#include <pthread.h>
#include <time.h>

namespace starling::mpi {
namespace {

constexpr long kPatienceNs = 100'000;

bool lock_with_patience(std::mutex& mutex) noexcept {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kPatienceNs;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return ::pthread_mutex_timedlock(mutex.native_handle(), &until) == 0;
}

}  // namespace

void BigLock::acquire_slowly() noexcept {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  // Somebody starves: come after it. It holds turn_ until it has the lock.
  if (starving_.load(std::memory_order_relaxed)) const std::scoped_lock after(turn_);
  if (!lock_with_patience(mutex_)) {
    const std::scoped_lock turn(turn_);
    starving_.store(true, std::memory_order_relaxed);
    mutex_.lock();
    starving_.store(false, std::memory_order_relaxed);
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace starling::mpi
