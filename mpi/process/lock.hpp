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
///            reacquire(); contended() tells it whether another thread wants the lock. A free lock goes to
///            whoever asks first, since handing it over costs a change of threads; but a thread that has
///            waited 0.1 ms goes before all that come later.

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/expects.hpp"

namespace starling::mpi {

class BigLock {
 public:
  [[nodiscard]] bool enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }
  void enable() noexcept { enabled_.store(true, std::memory_order_release); }

  void acquire() noexcept {
    const std::uintptr_t me = self();
    if (owner_.load(std::memory_order_relaxed) == me) {
      ++depth_;
      return;
    }
    if (starving_.load(std::memory_order_relaxed) || !mutex_.try_lock()) [[unlikely]]
      acquire_slowly();
    owner_.store(me, std::memory_order_relaxed);
    depth_ = 1;
    ++turns_;
  }
  /// Takes a free lock that nobody waits for, for a thread that is not the program's: it does not count as a
  /// turn. Not recursive.
  [[nodiscard]] bool try_acquire() noexcept {
    if (contended() || !mutex_.try_lock()) return false;
    owner_.store(self(), std::memory_order_relaxed);
    depth_ = 1;
    return true;
  }
  /// How often threads of the program have had the lock: grows with every call of MPI once it is enabled. For
  /// who holds it.
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }
  /// For the end of the process: false if others have not given the lock away in time.
  [[nodiscard]] bool acquire_within(std::uint64_t ns) noexcept;
  void release() noexcept {
    if (--depth_ != 0) return;
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

  /// Gives the lock away however often this thread holds it; 0 when it does not hold it (the lock is not
  /// enabled).
  [[nodiscard]] std::uint32_t release_all() noexcept {
    if (owner_.load(std::memory_order_relaxed) != self()) return 0;
    const std::uint32_t depth = depth_;
    depth_ = 1;
    release();
    return depth;
  }
  void reacquire(std::uint32_t depth) noexcept {
    if (depth == 0) return;
    acquire();
    depth_ = depth;
  }

  /// Another thread waits for the lock.
  [[nodiscard]] bool contended() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool held_by_me() const noexcept { return owner_.load(std::memory_order_relaxed) == self(); }

  constexpr BigLock() = default;
  BigLock(const BigLock&) = delete;
  BigLock& operator=(const BigLock&) = delete;

 private:
  [[nodiscard]] static std::uintptr_t self() noexcept {
    static thread_local char mark;  // its address is this thread's identity
    return reinterpret_cast<std::uintptr_t>(&mark);
  }

  std::atomic<bool> enabled_{false};
  [[gnu::noinline]] void acquire_slowly() noexcept;

  std::atomic<bool> starving_{false};  ///< the thread that holds turn_ waits for mutex_
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uintptr_t> owner_{0};
  std::uint64_t turns_ = 0;
  std::uint32_t depth_ = 0;
  std::mutex mutex_;
  std::mutex turn_;  ///< of those that have waited long; taken before mutex_
};

/// Holds the lock for a scope: only where it is enabled, or always (calls that may change the thread level or
/// race before init).
class Hold {
 public:
  enum Mode : std::uint8_t { none, when_enabled, always };
  Hold(BigLock& lock, Mode mode) noexcept
      : lock_(mode == always || (mode == when_enabled && lock.enabled()) ? &lock : nullptr) {
    if (lock_ != nullptr) [[unlikely]]
      lock_->acquire();
  }
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void release() noexcept {
    if (lock_ != nullptr) [[unlikely]]
      lock_->release();
    lock_ = nullptr;
  }

 private:
  BigLock* lock_;
};

}  // namespace starling::mpi
