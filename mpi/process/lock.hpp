// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The one lock of the runtime: MPI calls of several threads take turns. Layer: mpi.
///
/// It does nothing until MPI_THREAD_MULTIPLE is asked for, or a progress thread made (mpi/runtime): one
/// predictable branch per call. From then on it stays a real lock to the end of the process, since a session
/// with MPI_THREAD_MULTIPLE may live beside others. It is recursive, because user callbacks (attributes,
/// reductions, error handlers) may call MPI.
///
/// Threads:   any. enable() is called by a thread that holds the lock by Hold::always.
/// Ordering:  a thread that waits for messages gives the lock away with release_all() and takes it again with
///            reacquire(); contended() tells it whether another thread wants the lock. Who gets a free lock,
///            and what that costs: biased_lock.hpp.

#include <atomic>
#include <cstdint>

#include "core/atomics.hpp"
#include "mpi/process/biased_lock.hpp"

namespace starling::mpi {

/// What BiasedLock asks of the system.
struct LockKernel {
  static void pause(std::uint32_t round) noexcept;
  static void yield(std::uint32_t round) noexcept;
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
  static void wake_one(std::atomic<std::uint32_t>& word) noexcept;
  static void fence_all() noexcept;
};

struct LockLimits {
  static constexpr std::uint32_t kPauses = 6;  ///< 1 us or so in all
  static constexpr std::uint32_t kYields = 8;
  static constexpr std::uint32_t kPatience = 4;
  static constexpr std::uint32_t kLeastStreak = 16, kMostStreak = 1 << 16;
  static constexpr std::uint32_t kSlots = 64;
};

class BigLock {
 public:
  [[nodiscard]] bool enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }
  void enable() noexcept;

  void acquire() noexcept;
  /// As acquire(), with what a thread does that has the bias in line.
  [[gnu::always_inline]] void acquire_hot() noexcept {
    const Id me = number_;
    if (owner_.load(std::memory_order_relaxed) != me && core_.enter_biased(me)) [[likely]] {
      owner_.store(me, std::memory_order_relaxed);
      ++turns_;
      return;
    }
    acquire();
  }
  /// Takes a free lock that nobody waits for, for a thread that is not the program's: it does not count as a
  /// turn. Not recursive.
  [[nodiscard]] bool try_acquire() noexcept {
    const Id me = self();
    if (!core_.try_enter(me)) return false;
    hold(me);
    return true;
  }
  /// How often threads of the program have had the lock: grows with every call of MPI once it is enabled. For
  /// who holds it.
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }
  /// For the end of the process: false if others have not given the lock away in time.
  [[nodiscard]] bool acquire_within(std::uint64_t ns) noexcept;
  void release() noexcept;
  [[gnu::always_inline]] void release_hot() noexcept {
    if (more_ != 0 || !core_.entered_by_bias()) [[unlikely]]
      return release();
    owner_.store(0, std::memory_order_relaxed);
    core_.leave_biased();
  }

  /// Gives the lock away however often this thread holds it; 0 when it does not hold it (the lock is not
  /// enabled).
  [[nodiscard]] std::uint32_t release_all() noexcept {
    if (owner_.load(std::memory_order_relaxed) != self()) return 0;
    const std::uint32_t depth = more_ + 1;
    more_ = 0;
    release();
    return depth;
  }
  void reacquire(std::uint32_t depth) noexcept {
    if (depth == 0) return;
    acquire();
    more_ = depth - 1;
  }

  /// The calling thread, as a number that no other thread of this process ever has; not 0.
  [[nodiscard]] static std::uint64_t me() noexcept { return self(); }
  /// For who holds it: no other thread has wanted it lately.
  [[nodiscard]] bool mine_alone() const noexcept { return core_.entered_by_bias(); }
  /// Another thread waits for the lock.
  [[nodiscard]] bool contended() const noexcept { return core_.contended(); }
  [[nodiscard]] bool held_by_me() const noexcept { return owner_.load(std::memory_order_relaxed) == self(); }

  constexpr BigLock() = default;
  BigLock(const BigLock&) = delete;
  BigLock& operator=(const BigLock&) = delete;

 private:
  using Core = BiasedLock<StdAtomics, LockKernel, LockLimits>;
  using Id = Core::Id;

  /// A number that no other thread of this process ever has: an address could be the next thread's, too.
  [[nodiscard]] static Id self() noexcept;
  // self()'s; 0 before its first call. Found by one load also where the library was opened by dlopen(); its 8
  // bytes are in what the loader keeps for that.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Id number_;
  void hold(Id me) noexcept { owner_.store(me, std::memory_order_relaxed); }

  std::atomic<bool> enabled_{false};
  std::atomic<Id> owner_{0};
  std::uint32_t more_ = 0;  ///< how often its holder holds it besides the first time
  std::uint64_t turns_ = 0;
  Core core_;
};

/// Holds the lock for a scope: only where it is enabled, or always (calls that may change the thread level or
/// race before init). Every entry point has one: without threads it is a load and a branch, and no more than
/// that is inlined into most of them.
class Hold {
 public:
  enum Mode : std::uint8_t { none, when_enabled, always };
  [[gnu::always_inline]] Hold(BigLock& lock, Mode mode) noexcept
      : lock_(mode == always || (mode == when_enabled && lock.enabled()) ? &lock : nullptr) {
    if (lock_ != nullptr) [[unlikely]]
      lock_->acquire();
  }
  [[gnu::always_inline]] ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  /// As when_enabled, and for the end of a scope, of the few calls for which their number counts.
  [[gnu::always_inline]] void take_hot(BigLock& lock) noexcept {
    lock_ = lock.enabled() ? &lock : nullptr;
    if (lock_ != nullptr) [[unlikely]]
      lock_->acquire_hot();
  }
  [[gnu::always_inline]] void release_hot() noexcept {
    if (lock_ != nullptr) [[unlikely]]
      lock_->release_hot();
    lock_ = nullptr;
  }
  [[gnu::always_inline]] void release() noexcept {
    if (lock_ != nullptr) [[unlikely]]
      lock_->release();
    lock_ = nullptr;
  }

 private:
  BigLock* lock_;
};

}  // namespace starling::mpi
