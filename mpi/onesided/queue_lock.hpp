// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A lock in shared memory with two sides, whose waiters queue and sleep. Layer: mpi.
/// docs/design/onesided.md
///
/// On each side any number of members may hold it at once; with `one`, the other side has a single holder. A
/// member that finds no waiter and no holder of the other side takes it by one atomic. Else it takes a
/// number, and enters when nobody with a lower one waits. Nobody hands the lock over: who leaves or enters
/// names the next one, for the caller to wake. So a member that was asleep at its turn, or died, delays
/// nobody and loses nothing.
///
/// Each member has a slot, written by itself, that says what it holds or waits for. So the others can tell
/// who holds the lock, and free it of a member that has died (clear_of).
///
/// `Words` gives the atomics, in shared memory or in a model: word(), numbers(), slot(member), all of 64
/// bits, and size(). All zero is a free lock.
///
/// Threads:   one at a time per member: from enter() or queue() to leave() or give_up().
/// Ordering:  what a holder wrote before leave() is visible to those of the other side after they entered.
/// Errors:    none here; deaths are found by the caller.

#include <atomic>
#include <cstdint>

namespace starling::mpi {

/// The two sides, as the caller names them.
enum class Side : std::uint8_t { shared = 0, other = 1 };

template <class Atomics, class Words>
class QueueLock {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  /// `one`: the other side takes one holder at a time.
  /// `stamp`: tells one holding of this member from its next, for those who look (Doing).
  QueueLock(Words words, std::uint32_t me, bool one, std::uint64_t stamp = 0) noexcept
      : words_(words), me_(me), one_(one), stamp_(stamp) {}

  /// Takes the lock if that is possible at once. `first`: also before those who wait. False: queue() next.
  bool enter(Side side, bool first) noexcept {
    words_.slot(me_).store(stamp_ << 3 | holding(side), std::memory_order_relaxed);
    std::uint64_t seen = words_.word().load(std::memory_order_relaxed);
    while (open(seen, side) && (first || waiters(seen) == 0)) {
      if (words_.word().compare_exchange_weak(seen, seen + unit(side), std::memory_order_acquire,
                                              std::memory_order_relaxed))
        return true;
    }
    words_.slot(me_).store(0, std::memory_order_relaxed);
    return false;
  }

  /// Takes a number; then try_queued() until it is true, or give_up(). `first`: before those who have one.
  void queue(Side side, bool first) noexcept {
    const std::uint64_t number = first ? 0 : words_.numbers().fetch_add(1, std::memory_order_relaxed) + 1;
    words_.slot(me_).store(number << 3 | kWaits | bit(side), std::memory_order_relaxed);
    // Who leaves after this sees that somebody waits, and in which slot.
    words_.word().fetch_add(kWaiter, std::memory_order_release);
  }

  /// After queue(): true if it is this member's turn and it has taken the lock. Then wake next(), unless this
  /// side excludes().
  bool try_queued(Side side) noexcept {
    if (lowest(me_) != me_) return false;
    std::uint64_t seen = words_.word().load(std::memory_order_relaxed);
    while (open(seen, side)) {
      if (!words_.word().compare_exchange_weak(seen, seen + unit(side) - kWaiter, std::memory_order_relaxed,
                                               std::memory_order_relaxed))
        continue;
      words_.slot(me_).store(stamp_ << 3 | holding(side), std::memory_order_relaxed);
      // What follows is not moved before the taking. A member that queued meanwhile and saw this slot waiting
      // fences before it sleeps, so next() sees it.
      Atomics::fence(std::memory_order_seq_cst);
      return true;
    }
    return false;
  }

  /// Whether who holds it on this side keeps out all who wait: then leave() names the next one early enough.
  [[nodiscard]] bool excludes(Side side) const noexcept { return one_ && side == Side::other; }
  /// Gives the lock back. Who has to be woken, or kNobody.
  [[nodiscard]] std::uint32_t leave(Side side) noexcept {
    words_.slot(me_).store(0, std::memory_order_relaxed);
    const std::uint64_t before = words_.word().fetch_add(-unit(side), std::memory_order_acq_rel);
    return waiters(before) == 0 ? kNobody : lowest(kNobody);
  }
  /// After queue(): waits no longer. Then wake next().
  void give_up() noexcept {
    words_.slot(me_).store(0, std::memory_order_relaxed);
    words_.word().fetch_add(-kWaiter, std::memory_order_acq_rel);
  }
  /// Of those who wait, the one whose turn it is; kNobody.
  [[nodiscard]] std::uint32_t next() const noexcept {
    return waiters(words_.word().load(std::memory_order_relaxed)) == 0 ? kNobody : lowest(kNobody);
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return words_.size(); }
  /// What a member does at this lock, as it last said.
  struct Doing {
    bool holds = false;
    bool waits = false;
    Side side = Side::shared;
    std::uint64_t stamp = 0;  ///< of a holding; a number in the queue of who waits
  };
  [[nodiscard]] Doing doing(std::uint32_t member) const noexcept {
    const std::uint64_t slot = words_.slot(member).load(std::memory_order_relaxed);
    return {slot != 0 && (slot & kWaitsBit) == 0, (slot & kWaitsBit) != 0,
            (slot & kOther) != 0 ? Side::other : Side::shared, slot >> 3};
  }

  /// Frees the lock of a member that has died, once among all that notice. True if it may have held it.
  bool clear_of(std::uint32_t dead) noexcept {
    std::uint64_t slot = words_.slot(dead).load(std::memory_order_relaxed);
    if (slot == 0) return false;
    const Side side = (slot & kOther) != 0 ? Side::other : Side::shared;
    // It may have died between taking the lock and saying so.
    const bool held = (slot & kWaitsBit) == 0 || held_by_none();
    if (!words_.slot(dead).compare_exchange_strong(slot, 0, std::memory_order_relaxed,
                                                   std::memory_order_relaxed))
      return false;
    std::uint64_t seen = words_.word().load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t less = held ? unit(side) : kWaiter;
      if ((held ? count(seen, side) : waiters(seen)) == 0) break;
      if (words_.word().compare_exchange_weak(seen, seen - less, std::memory_order_relaxed,
                                              std::memory_order_relaxed))
        break;
    }
    return held;
  }

 private:
  // word: holders of the two sides, 24 bits each, and 16 bits of waiters. slot: 0, or a number (of the queue,
  // or the holder's stamp) above three bits: it is in use, waits, is of the other side.
  static constexpr std::uint64_t kWaiter = std::uint64_t{1} << 48;
  static constexpr std::uint64_t kCount = (std::uint64_t{1} << 24) - 1;
  static constexpr std::uint64_t kInUse = 1, kWaitsBit = 2, kOther = 4, kWaits = kInUse | kWaitsBit;

  static constexpr std::uint64_t bit(Side side) noexcept { return side == Side::other ? kOther : 0; }
  static constexpr std::uint64_t holding(Side side) noexcept { return kInUse | bit(side); }
  static constexpr std::uint64_t unit(Side side) noexcept {
    return std::uint64_t{1} << (side == Side::other ? 24 : 0);
  }
  static constexpr std::uint64_t count(std::uint64_t word, Side side) noexcept {
    return word >> (side == Side::other ? 24 : 0) & kCount;
  }
  static constexpr std::uint64_t waiters(std::uint64_t word) noexcept { return word >> 48; }
  [[nodiscard]] bool open(std::uint64_t word, Side side) const noexcept {
    if (side == Side::shared) return count(word, Side::other) == 0;
    return count(word, Side::shared) == 0 && (!one_ || count(word, Side::other) == 0);
  }

  /// Of those who wait, and of `always` in any case, the one with the lowest number.
  [[nodiscard]] std::uint32_t lowest(std::uint32_t always) const noexcept {
    std::uint32_t best = kNobody;
    std::uint64_t number = ~std::uint64_t{0};
    for (std::uint32_t member = 0; member < words_.size(); ++member) {
      const std::uint64_t slot = words_.slot(member).load(std::memory_order_relaxed);
      if (member != always && (slot & kWaits) != kWaits) continue;
      if (slot >> 3 < number) {
        best = member;
        number = slot >> 3;
      }
    }
    return best;
  }
  /// It is taken, although no member says that it holds it.
  [[nodiscard]] bool held_by_none() const noexcept {
    if ((words_.word().load(std::memory_order_relaxed) & (kWaiter - 1)) == 0) return false;
    for (std::uint32_t member = 0; member < words_.size(); ++member) {
      if (doing(member).holds) return false;
    }
    return true;
  }

  Words words_;
  std::uint32_t me_;
  bool one_;
  std::uint64_t stamp_;
};

}  // namespace starling::mpi
