// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One word by which a process lets another one write to a buffer of its own, once. Layer: framework
/// (btl). See docs/design/early-push.md; model: tests/model/permit.cpp.
///
/// The owner opens it for a generation, and may close it; the other process takes it, writes, and says so.
/// Closing and taking are compare-and-swaps of the same word: one of the two succeeds.
///
/// Threads:   the word is in memory of both processes. Closed and written, it is the owner's to open again.
/// Ordering:  what the owner did with the buffer before open() has happened for who takes the permit; what
///            was written has happened for an owner who finds it written.
/// Errors:    none. A generation is never used twice.

#include <atomic>
#include <cstdint>

namespace starling::btl {

template <class Atomics>
class Permit {
 public:
  using Word = typename Atomics::template Atomic<std::uint64_t>;

  /// Of a generation, which is not 0 and below 2^62.
  Permit(Word& word, std::uint64_t generation) noexcept : word_(word), generation_(generation) {}

  // The buffer's owner
  void open() noexcept { word_.store(as(kOpen), std::memory_order_release); }
  /// True: it was open, and nobody will take it any more. False: it has been taken.
  [[nodiscard]] bool close() noexcept {
    std::uint64_t seen = as(kOpen);
    return word_.compare_exchange_strong(seen, as(kClosed), std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }
  /// It has been taken: whether the other process is through with the buffer.
  [[nodiscard]] bool written() const noexcept {
    return word_.load(std::memory_order_acquire) == as(kWritten);
  }

  // Who writes
  [[nodiscard]] bool take() noexcept {
    std::uint64_t seen = as(kOpen);
    return word_.compare_exchange_strong(seen, as(kTaken), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void finish() noexcept { word_.store(as(kWritten), std::memory_order_release); }

 private:
  static constexpr std::uint64_t kOpen = 1, kTaken = 2, kWritten = 3, kClosed = 0;

  [[nodiscard]] std::uint64_t as(std::uint64_t state) const noexcept { return generation_ << 2 | state; }

  Word& word_;
  std::uint64_t generation_;
};

}  // namespace starling::btl
