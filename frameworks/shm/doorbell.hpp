// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a process goes to sleep without missing a message, and how it is woken. Layer: framework.
///
/// The sleeper raises kAsleep and then looks for messages once more; the producer publishes its message and
/// then looks at the word. A full fence between the two steps on either side makes it impossible that both
/// look too early. The producer that takes the bit down rings, so that a crowd of producers makes one system
/// call. The word's other bits are other requests to producers (btl/shm's activity words) and use the same
/// handshake, so that a producer looks at one word only.
///
/// Who publishes something that is no message rings only sleepers that await it: a sleeper gives it a number,
/// which stands in the same word. In a collective everybody publishes and waits for one member at a time;
/// to wake all for each word would be a change of processes for each pair.
///
/// A full fence waits until the message's cache line has been fetched from the receiver: a producer that
/// streams would send one message per line transfer. So where the kernel offers it (kFencesForAll), the
/// sleeper makes all registered processes pass a full fence (membarrier), and a registered producer needs
/// none of its own. See docs/design/shared-memory.md.
///
/// Threads:   the sleepers are threads of one process; producers are in any process.
/// Ordering:  only the wake-up is promised; what was published has its own release and acquire.

#include <atomic>
#include <cstdint>

namespace starling::shm {

inline constexpr std::uint32_t kAsleep = 1;
/// Somebody polls activity words instead of every lane: see plugins/btl/shm/activity.hpp.
inline constexpr std::uint32_t kWantsActivity = 2;
/// Behind each request in this word, its process makes every registered process pass a full fence.
inline constexpr std::uint32_t kFencesForAll = 4;
/// What a sleeper awaits besides messages: from this bit on. It is taken down with kAsleep.
inline constexpr std::uint32_t kAwaitedShift = 8;
inline constexpr std::uint32_t kAwaitsNothing = 0, kAwaitsAll = 0xffffff;
inline constexpr std::uint32_t kSleep = kAsleep | kAwaitsAll << kAwaitedShift;

/// Whether this attention word is that of a sleeper who awaits that.
[[nodiscard]] constexpr bool awaits(std::uint32_t attention, std::uint32_t what) noexcept {
  const std::uint32_t awaited = attention >> kAwaitedShift;
  return (attention & kAsleep) != 0 && (awaited == what || awaited == kAwaitsAll);
}

template <class Atomics>
class Doorbell {
 public:
  using Word = typename Atomics::template Atomic<std::uint32_t>;

  /// `registered`: this process takes part in the fences of processes with kFencesForAll.
  Doorbell(Word& bell, Word& attention, bool registered = false) noexcept
      : bell_(bell), attention_(attention), registered_(registered) {}

  /// Sleeper: announces that it is about to sleep. With kFencesForAll it must then make all registered
  /// processes pass a fence. It must poll once more, and may then wait while the bell has the returned value.
  /// Threads of one process that sleep at once must all await the same.
  [[nodiscard]] std::uint32_t prepare(std::uint32_t awaited = kAwaitsNothing) noexcept {
    const std::uint32_t value = bell_.load(std::memory_order_relaxed);
    attention_.fetch_or(kAsleep | awaited << kAwaitedShift, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
    return value;
  }
  /// Sleeper: nobody of this process sleeps any more.
  void awake() noexcept { attention_.fetch_and(~kSleep, std::memory_order_relaxed); }

  /// Producer, after publishing: what the other side asks for, kAsleep and what it awaits, and other bits.
  [[nodiscard]] std::uint32_t attention() noexcept {
    if (registered_) {
      Atomics::compiler_fence();
      const std::uint32_t seen = attention_.load(std::memory_order_relaxed);
      if ((seen & kFencesForAll) != 0) [[likely]]
        return seen & ~kFencesForAll;
    }
    Atomics::fence(std::memory_order_seq_cst);
    return attention_.load(std::memory_order_relaxed) & ~kFencesForAll;
  }
  /// Producer that saw kAsleep: true if it is the one that must wake the sleepers with a futex call on the
  /// bell.
  [[nodiscard]] bool ring() noexcept {
    if ((attention_.fetch_and(~kSleep, std::memory_order_relaxed) & kAsleep) == 0) return false;
    bell_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  Word& bell_;
  Word& attention_;
  bool registered_;
};

}  // namespace starling::shm
