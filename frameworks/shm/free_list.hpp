// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A lock-free list of free extents of one size. Layer: framework.
///
/// The head holds {tag, index}; the tag changes with each operation, so that a list that went A-B-A is
/// noticed. Links are kept in a table beside the extents, never in the extents: reading the link of an extent
/// that somebody else just took touches no byte of theirs, and a freed extent's pages can be given back
/// whole.
///
/// Threads:   push and pop by any process. A process that dies between two steps loses at most the extent it
///            holds.
/// Ordering:  what the pusher did to the extent happens before what the popper does.
/// Units:     index 0 is "none".

#include <atomic>
#include <cstdint>

namespace starling::shm {

template <class Atomics, class Links>
class FreeList {
 public:
  using Head = typename Atomics::template Atomic<std::uint64_t>;

  /// `links(i)` is the Atomic<uint32> link of index i.
  FreeList(Head& head, Links links) noexcept : head_(head), links_(links) {}

  void push(std::uint32_t index) noexcept {
    std::uint64_t seen = head_.load(std::memory_order_relaxed);
    do {
      links_(index).store(static_cast<std::uint32_t>(seen), std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(seen, next_head(seen, index), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  [[nodiscard]] std::uint32_t pop() noexcept {
    for (;;) {
      // Acquire: the link of `first` and the last owner's accesses were made before the head was stored. The
      // exchange succeeds only on this very head (the tag tells), so it needs no order of its own.
      std::uint64_t seen = head_.load(std::memory_order_acquire);
      const auto first = static_cast<std::uint32_t>(seen);
      if (first == 0) return 0;
      const std::uint32_t second = links_(first).load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(seen, next_head(seen, second), std::memory_order_relaxed,
                                      std::memory_order_relaxed)) {
        return first;
      }
    }
  }

 private:
  static std::uint64_t next_head(std::uint64_t seen, std::uint32_t index) noexcept {
    return (((seen >> 32) + 1) << 32) | index;
  }
  Head& head_;
  Links links_;
};

}  // namespace starling::shm
