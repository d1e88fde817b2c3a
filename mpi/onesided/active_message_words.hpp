// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The word by which an origin asks a target for an active message, and either of them does it. Layer:
/// mpi. docs/design/onesided.md, "Active messages"
///
///     free -> taken -> asked -> claimed -> done -> free
///                         \-> free
///
/// An origin that finds nobody there takes the word, writes what it wants beside it, and asks. The target
/// claims that while it waits inside of MPI. Who asked and was not heard takes the question back, and does it
/// by itself: one compare-and-swap decides which of them, so nothing is done twice.
///
/// All zero: free. One word for each target: who finds it taken does not wait for it.
///
/// Threads:   one origin between take() and release(); the target alone claims.
/// Ordering:  what the origin has written is visible to who has claimed; what that one has done and answered
///            is visible to who finds it done; all of it to the next origin.

#include <atomic>
#include <cstdint>

namespace starling::mpi {

template <class Atomics>
class ActiveMessageWord {
 public:
  using Word = typename Atomics::template Atomic<std::uint32_t>;

  explicit ActiveMessageWord(Word& word) noexcept : word_(word) {}

  // The origin.
  [[nodiscard]] bool take() const noexcept {
    return word_.load(std::memory_order_relaxed) == kFree && change(kFree, kTaken, std::memory_order_acquire);
  }
  void ask() const noexcept { word_.store(kAsked, std::memory_order_release); }
  [[nodiscard]] bool done() const noexcept { return word_.load(std::memory_order_acquire) == kDone; }
  /// False: the target is at it, and done() will be true. What was written was released by ask(), and belongs
  /// to its release sequence for who takes the word next.
  [[nodiscard]] bool take_back() const noexcept { return change(kAsked, kFree, std::memory_order_relaxed); }
  void release() const noexcept { word_.store(kFree, std::memory_order_release); }

  // The target.
  [[nodiscard]] bool claim() const noexcept {
    return word_.load(std::memory_order_relaxed) == kAsked &&
           change(kAsked, kClaimed, std::memory_order_acquire);
  }
  void answer() const noexcept { word_.store(kDone, std::memory_order_release); }

 private:
  enum : std::uint32_t { kFree, kTaken, kAsked, kClaimed, kDone };

  [[nodiscard]] bool change(std::uint32_t from, std::uint32_t to, std::memory_order order) const noexcept {
    return word_.compare_exchange_strong(from, to, order, std::memory_order_relaxed);
  }

  Word& word_;
};

}  // namespace starling::mpi
