// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The words by which MPI_Win_post, start, complete and wait meet. Layer: mpi. docs/design/onesided.md
///
/// For each pair there is a flag: the target sets it when it posts for the origin, and the origin clears it
/// when it has completed there. So at most one post is under way between two members, and the flags tell a
/// target which origins have not completed. Besides, each target has a count of completions, so that its wait
/// reads one word, however many origins there are.
///
/// `Words` gives the atomics, in shared memory or in a model: posted(origin, target), of 64 bits, and
/// completed(target). All zero: nobody has posted.
///
/// Threads:   a flag is set by its target and cleared by its origin, never at the same time.
/// Ordering:  what the target did before post() is visible to an origin that finds posted(); what origins did
///            before complete() is visible to the target that finds them counted.

#include <atomic>
#include <cstdint>

namespace starling::mpi {

template <class Words>
class PostWords {
 public:
  explicit PostWords(Words words) noexcept : words_(words) {}

  void post(std::uint32_t origin, std::uint32_t target) const noexcept {
    words_.posted(origin, target).store(1, std::memory_order_release);
  }
  [[nodiscard]] bool posted(std::uint32_t origin, std::uint32_t target) const noexcept {
    return words_.posted(origin, target).load(std::memory_order_acquire) != 0;
  }
  /// Clears the flag before it counts: once the target has seen the count, it may post again.
  void complete(std::uint32_t origin, std::uint32_t target) const noexcept {
    words_.posted(origin, target).store(0, std::memory_order_relaxed);
    words_.completed(target).fetch_add(1, std::memory_order_release);
  }
  /// How often anybody has completed at this target, since the window was made.
  [[nodiscard]] std::uint64_t completed(std::uint32_t target) const noexcept {
    return words_.completed(target).load(std::memory_order_acquire);
  }

 private:
  Words words_;
};

}  // namespace starling::mpi
