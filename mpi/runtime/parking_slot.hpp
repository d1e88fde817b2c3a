// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where one thread waits until another one calls it, once. Layer: mpi. docs/design/threads.md
///
/// `Kernel`, static functions: yield(), sleep(word, value), wake_one(word).
///
/// Threads:   wait() by its owner, call() once by any other thread. The parking slot may be destroyed as soon
///            as both have returned.
/// Ordering:  what was done before call() is visible after wait().

#include <atomic>
#include <cstdint>

namespace starling::mpi {

template <class Atomics, class Kernel>
class ParkingSlot {
 public:
  using Word = typename Atomics::template Atomic<std::uint32_t>;

  /// Yields the core up to `yields` times, then sleeps. True: it slept.
  bool wait(std::uint32_t yields) noexcept {
    for (std::uint32_t i = 0; i < yields; ++i) {
      if (word_.load(std::memory_order_acquire) == kCalled) return false;
      Kernel::yield();
    }
    std::uint32_t seen = kAwake;
    if (!word_.compare_exchange_strong(seen, kAsleep, std::memory_order_acquire, std::memory_order_acquire))
      return false;
    while (word_.load(std::memory_order_acquire) == kAsleep) Kernel::sleep(word_, kAsleep);
    return true;
  }
  void call() noexcept {
    if (word_.exchange(kCalled, std::memory_order_release) == kAsleep) Kernel::wake_one(word_);
  }

 private:
  static constexpr std::uint32_t kAwake = 0, kAsleep = 1, kCalled = 2;
  Word word_{};
};

}  // namespace starling::mpi
