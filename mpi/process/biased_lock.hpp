// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A lock that costs the only thread that takes it no locked instruction. Layer: mpi.
/// docs/design/threads.md
///
/// It has a word, as other locks, and a bias: a thread that took the lock many times in a row takes it from
/// then on by two stores and two loads on its own memory. Another thread takes the word, takes the bias away,
/// makes all threads of the process pass a full fence (membarrier), and waits until the biased thread is
/// outside. Why no locked instruction: it would wait until the cache line of the message that was just sent
/// has come from its receiver.
///
/// A thread that finds the word taken looks at it again after growing pauses, so that the holder can make
/// several calls in a row. Then it gives its core away some times, since the holder may want it; then it
/// sleeps. A thread that leaves wakes one sleeper, and no other until that one has run. A free lock goes to
/// the thread that asks first, since handing it over costs a change of threads. A sleeper that was woken
/// kPatience times in vain reserves the lock.
///
/// `Kernel`, static functions: pause(round), yield(round), sleep(word, value), wake_one(word), and
/// fence_all(): when it returns, all threads of the process have passed a full fence. `Limits`: kPauses,
/// kYields, kPatience; kLeastStreak, kMostStreak: in a row before the bias is given, at first and at most;
/// kSlots: threads that ever get it.
///
/// Threads:   any. A thread is named by an id that no other thread ever has, not 0 and below 2^56 - 1. Not
///            recursive.
/// Ordering:  what a holder did before leave() is visible to all that enter after it.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace starling::mpi {

template <class Atomics, class Kernel, class Limits>
class BiasedLock {
 public:
  using Id = std::uint64_t;
  using Word = typename Atomics::template Atomic<std::uint32_t>;

  constexpr BiasedLock() = default;
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  /// From here on biases are given. Kernel::fence_all() must work. To be called by the holder of the lock.
  void allow_bias() noexcept { bias_allowed_ = true; }

  /// False: enter_slowly() comes next.
  [[nodiscard]] bool enter(Id me) noexcept {
    if (enter_biased(me)) return true;
    if (!take_free_word()) return false;
    if (biased_.load(std::memory_order_relaxed) != kNobody) [[unlikely]]
      expel();
    count(me);
    return true;
  }

  /// The part of enter() that is for the biased thread; 0 may ask, too. False: nothing has happened.
  [[nodiscard, gnu::always_inline]] bool enter_biased(Id me) noexcept {
    const Id bias = biased_.load(std::memory_order_relaxed);
    if (bias >> kSlotBits != me) return false;
    Word& inside = inside_[slot_of(bias)];
    inside.store(1, std::memory_order_relaxed);
    Atomics::compiler_fence();  // the other side's fence for all orders the two
    if (biased_.load(std::memory_order_relaxed) == bias) [[likely]]
      return true;
    // The thread that takes the bias away may see this store instead of that of the last leave(). Its fence
    // has ordered what came before leave(); release is for ThreadSanitizer, which does not know such fences.
    inside.store(0, std::memory_order_release);  // no model sees it
    return false;
  }

  [[gnu::noinline]] void enter_slowly(Id me) noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    take_word_slowly();
    if (biased_.load(std::memory_order_relaxed) != kNobody) expel();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    count(me);
  }

  /// Takes a lock that nobody has or wants.
  [[nodiscard]] bool try_enter(Id me) noexcept {
    if (contended()) return false;
    if (enter_biased(me)) return true;
    if (!take_free_word()) return false;
    if (!expel_while([] { return false; })) {
      leave_word();
      return false;
    }
    count(me);
    return true;
  }

  /// Takes the lock before all others that wait. Gives up as soon as again() is false.
  template <class Again>
  [[nodiscard]] bool enter_first(Id me, Again again) noexcept {
    if (enter_biased(me)) return true;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    bool had = take_word_first(again);
    if (had && !expel_while(again)) {
      leave_word();
      had = false;
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (had) count(me);
    return had;
  }

  void leave() noexcept {
    if (entered_by_bias()) return leave_biased();
    if (streak_ >= needed_) [[unlikely]]
      give_bias();
    leave_word();
  }

  /// leave() for a thread that has entered_by_bias().
  [[gnu::always_inline]] void leave_biased() noexcept { inside_[slot_].store(0, std::memory_order_release); }

  /// To be called by the holder.
  [[nodiscard]] bool entered_by_bias() const noexcept { return slot_ != kNoSlot; }
  /// Another thread waits for it.
  [[nodiscard]] bool contended() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  // Of state_. Sleepers are counted from kSleeper on.
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWoken = 2;     ///< a sleeper was woken, and has not yet looked
  static constexpr std::uint32_t kReserved = 4;  ///< for the one that waits on turn_
  static constexpr std::uint32_t kSleeper = 8;

  [[nodiscard]] static bool free(std::uint32_t state) noexcept { return (state & (kHeld | kReserved)) == 0; }

  // Of biased_: the thread, and which of inside_ is its own.
  static constexpr std::uint32_t kSlotBits = 8;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  static constexpr Id kNobody = ~Id{0};  ///< no thread's, nor what a thread has that has no id yet
  [[nodiscard]] static std::uint32_t slot_of(Id bias) noexcept {
    return static_cast<std::uint32_t>(bias & ((1u << kSlotBits) - 1));
  }

  // Takes the bias away. If the biased thread is inside, waits for it as long as again() is true. After that
  // gives it its bias back, so that it counts as inside for the thread that takes the word next.
  template <class Again>
  [[nodiscard]] bool expel_while(Again again) noexcept {
    const Id bias = biased_.load(std::memory_order_relaxed);
    if (bias == kNobody) return true;
    biased_.store(kNobody, std::memory_order_relaxed);
    Kernel::fence_all();
    needed_ = std::min(2 * needed_, Limits::kMostStreak);
    while (inside_[slot_of(bias)].load(std::memory_order_acquire) != 0) {
      if (again()) continue;
      biased_.store(bias, std::memory_order_relaxed);
      return false;
    }
    return true;
  }
  [[gnu::noinline]] void expel() noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    (void)expel_while([round = 0u]() mutable {
      Kernel::yield(round++);
      return true;
    });
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }

  // The thread that takes the word next finds the bias. A thread has its word of inside_ for ever, since it
  // may be about to write it for a bias that it no longer has.
  void give_bias() noexcept {
    streak_ = 0;
    std::uint32_t slot = 0;
    while (slot < Limits::kSlots && slots_[slot] != last_ && slots_[slot] != 0) ++slot;
    if (slot == Limits::kSlots) {
      bias_allowed_ = false;
      return;
    }
    slots_[slot] = last_;
    slot_ = slot;
    biased_.store(last_ << kSlotBits | slot, std::memory_order_relaxed);
  }

  void count(Id me) noexcept {
    slot_ = kNoSlot;
    if (last_ != me) {
      last_ = me;
      streak_ = 0;
    } else if (bias_allowed_) {
      ++streak_;
    }
  }

  [[nodiscard]] bool take_free_word() noexcept {
    std::uint32_t seen = 0;
    return state_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }

  /// Takes the word unless it is held or reserved, also before those that sleep.
  [[nodiscard]] bool try_take() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    while (free(seen)) {
      if (state_.compare_exchange_weak(seen, seen | kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  void take_word_slowly() noexcept {
    for (std::uint32_t round = 0; round < Limits::kPauses; ++round) {
      Kernel::pause(round);
      if (try_take()) return;
    }
    for (std::uint32_t round = 0; round < Limits::kYields; ++round) {
      Kernel::yield(round);
      if (try_take()) return;
    }
    // Before anybody can wake this thread. A load that comes too late is what Relacy does not do.
    std::uint32_t number = wakes_.load(std::memory_order_acquire);  // no model sees it
    if (!change([](std::uint32_t seen) { return seen + kSleeper; }, 0)) return;
    for (std::uint32_t woken = 0;; ++woken) {
      Kernel::sleep(wakes_, number);
      number = wakes_.load(std::memory_order_acquire);  // no model sees it
      const bool reserve = woken >= Limits::kPatience;
      bool reserved = false;
      const auto stay = [&](std::uint32_t seen) {
        seen &= ~kWoken;
        reserved = reserve && (seen & kReserved) == 0;
        return reserved ? (seen - kSleeper) | kReserved : seen;
      };
      if (!change(stay, kSleeper)) return;
      if (reserved) return take_reserved();
    }
  }

  /// If the state is not free, changes it by `stay`; if it is free, takes the lock, and then removes the
  /// woken sleeper if `sleeper` says so. True: the lock was not taken.
  template <class Stay>
  [[nodiscard]] bool change(Stay stay, std::uint32_t sleeper) noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    for (;;) {
      const bool takes = free(seen);
      const std::uint32_t taken = ((seen - sleeper) | kHeld) & ~(sleeper != 0 ? kWoken : 0);
      const std::uint32_t wanted = takes ? taken : stay(seen);
      if (state_.compare_exchange_weak(seen, wanted, std::memory_order_acquire, std::memory_order_relaxed))
        return !takes;
    }
  }

  [[nodiscard]] bool try_take_reserved() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    while ((seen & kHeld) == 0) {
      if (state_.compare_exchange_weak(seen, (seen & ~kReserved) | kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  void take_reserved() noexcept {
    for (;;) {
      const std::uint32_t number = turn_.load(std::memory_order_acquire);
      if (try_take_reserved()) return;
      Kernel::sleep(turn_, number);
    }
  }

  template <class Again>
  [[nodiscard]] bool take_word_first(Again again) noexcept {
    bool mine = false;
    for (;;) {
      if (mine ? try_take_reserved() : try_take()) return true;
      if (!mine) mine = (state_.fetch_or(kReserved, std::memory_order_relaxed) & kReserved) == 0;
      if (again()) continue;
      if (!mine) return false;
      state_.fetch_and(~kReserved, std::memory_order_relaxed);
      wake_sleeper();
      return false;
    }
  }

  void leave_word() noexcept {
    const std::uint32_t before = state_.fetch_and(~kHeld, std::memory_order_release);
    if (before == kHeld) [[likely]]
      return;
    if ((before & kReserved) != 0) {
      turn_.fetch_add(1, std::memory_order_release);
      Kernel::wake_one(turn_);
    } else {
      wake_sleeper();
    }
  }

  // If the lock is not free any more, its holder wakes the sleeper when it leaves.
  void wake_sleeper() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    do {
      if (seen < kSleeper || !free(seen) || (seen & kWoken) != 0) return;
    } while (!state_.compare_exchange_weak(seen, seen | kWoken, std::memory_order_relaxed,
                                           std::memory_order_relaxed));
    wakes_.fetch_add(1, std::memory_order_release);  // no model sees it
    Kernel::wake_one(wakes_);
  }

  // The biased thread reads biased_ and writes its own word of inside_; others write biased_ once for each
  // bias.
  typename Atomics::template Atomic<Id> biased_{kNobody};
  Word inside_[Limits::kSlots]{};
  // Guarded by the lock.
  std::uint32_t slot_ = kNoSlot;  ///< of the holder that is inside by its bias; kNoSlot: it has the word
  bool bias_allowed_ = false;
  std::uint32_t streak_ = 0;  ///< how often in a row the last thread has taken the word
  std::uint32_t needed_ = Limits::kLeastStreak;
  Id last_ = 0;
  Id slots_[Limits::kSlots]{};  ///< the owner of each word of inside_
  // Written by whoever comes.
  Word state_{};
  Word wakes_{};    ///< sleepers wait on it
  Word turn_{};     ///< the one that has reserved the lock waits on it
  Word waiting_{};  ///< how many threads have not got the lock at once
};

}  // namespace starling::mpi
