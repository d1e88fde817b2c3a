// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a process goes to sleep without missing a message, and how it is woken. Layer: framework.
///
/// The sleeper raises `asleep` and then looks for messages once more; the producer publishes its message and then looks at
/// `asleep`. A full fence between the two steps on either side makes it impossible that both look too early. The producer
/// that takes the flag down rings, so that a crowd of producers makes one system call. See docs/design/shared-memory.md.
///
/// Threads:   one sleeper, any number of producers, in any processes.
/// Ordering:  nothing but the wake-up itself is promised; what was published has its own release and acquire.

#include <atomic>
#include <cstdint>

namespace starling::shm {

template <class Atomics>
class Doorbell {
 public:
  using Word = typename Atomics::template Atomic<std::uint32_t>;

  Doorbell(Word& bell, Word& asleep) noexcept : bell_(bell), asleep_(asleep) {}

  /// Sleeper: announces that it is about to sleep. It must poll once more and then wait while the bell has the returned value.
  [[nodiscard]] std::uint32_t prepare() noexcept {
    const std::uint32_t value = bell_.load(std::memory_order_relaxed);
    asleep_.store(1, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
    return value;
  }
  /// Sleeper: awake again, for whatever reason.
  void awake() noexcept { asleep_.store(0, std::memory_order_relaxed); }

  /// Producer, after publishing: true if the sleeper must be woken with a futex call on the bell.
  [[nodiscard]] bool ring() noexcept {
    Atomics::fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) == 0) return false;
    if (asleep_.exchange(0, std::memory_order_relaxed) == 0) return false;  // another producer rings
    bell_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  Word& bell_;
  Word& asleep_;
};

}  // namespace starling::shm
