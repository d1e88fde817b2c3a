// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A bounded queue from all processes of the node to one: first contacts, rare peers, announcements.
/// Layer: plugin.
///
/// Each cell has a word {lap, state, rank}: the lap for which it is free, claimed or full, and the rank that
/// claimed it. A producer claims the cell itself, not a place in the queue, so that a producer that dies
/// before it publishes is known and its cell can be skipped. The tail is a hint, which any producer moves
/// past claimed cells. All-zero is an empty queue.
///
/// Threads:   any number of producers in any process; one consumer.
/// Ordering:  messages of one producer are consumed in the order they were claimed.
/// Units:     positions are free-running; lap = position / cells.

#include <atomic>
#include <cstdint>

namespace starling::btl {

enum class CellState : std::uint32_t { free = 0, claimed = 1, full = 2 };

/// {lap: 40 bits, state: 2, rank: 22}. Zero is: free for lap 0.
[[nodiscard]] constexpr std::uint64_t cell_word(std::uint64_t lap, CellState state,
                                                std::uint32_t rank) noexcept {
  return (lap << 24) | (std::uint64_t{static_cast<std::uint32_t>(state)} << 22) | rank;
}
[[nodiscard]] constexpr std::uint64_t lap_of(std::uint64_t word) noexcept { return word >> 24; }
[[nodiscard]] constexpr CellState state_of(std::uint64_t word) noexcept {
  return static_cast<CellState>((word >> 22) & 3);
}
[[nodiscard]] constexpr std::uint32_t rank_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word & 0x3fffff);
}

/// Queue: cells(), word(i) -> Atomic<uint64>&, tail() -> Atomic<uint64>&, head() -> Atomic<uint64>&. It is
/// copied.
template <class Atomics, class Queue>
class IngressProducer {
 public:
  IngressProducer() = default;
  IngressProducer(Queue queue, std::uint32_t rank) noexcept : queue_(queue), rank_(rank) {}

  struct Claim {
    std::uint32_t cell = 0;
    std::uint64_t lap = 0;
    bool ok = false;
  };

  /// A cell to be filled and published; not ok: the queue is full.
  [[nodiscard]] Claim claim() noexcept {
    const std::uint32_t cells = queue_.cells();
    for (;;) {
      std::uint64_t tail = queue_.tail().load(std::memory_order_relaxed);
      const auto index = static_cast<std::uint32_t>(tail % cells);
      const std::uint64_t lap = tail / cells;
      std::uint64_t word = queue_.word(index).load(std::memory_order_relaxed);
      if (lap_of(word) < lap) return {};  // not consumed since the last lap
      bool mine = false;
      if (lap_of(word) == lap && state_of(word) == CellState::free) {
        // Acquire: the consumer has finished with what was in the cell.
        mine =
            queue_.word(index).compare_exchange_strong(word, cell_word(lap, CellState::claimed, rank_),
                                                       std::memory_order_acquire, std::memory_order_relaxed);
      }
      // The cell is taken, by this or another producer: moves the tail on, unless another one has.
      queue_.tail().compare_exchange_strong(tail, tail + 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
      if (mine) return {index, lap, true};
    }
  }

  void publish(const Claim& claim) noexcept {
    queue_.word(claim.cell).store(cell_word(claim.lap, CellState::full, rank_), std::memory_order_release);
  }

 private:
  Queue queue_{};
  std::uint32_t rank_ = 0;
};

template <class Atomics, class Queue>
class IngressConsumer {
 public:
  IngressConsumer() = default;
  explicit IngressConsumer(Queue queue) noexcept
      : queue_(queue), head_(queue_.head().load(std::memory_order_relaxed)) {
    place();
  }

  /// The word of the next cell if it is full, or claimed by somebody who has not published yet; 0 if neither.
  [[nodiscard]] std::uint64_t peek() noexcept {
    const std::uint64_t word = queue_.word(index_).load(std::memory_order_acquire);
    return lap_of(word) == lap_ && state_of(word) != CellState::free ? word : 0;
  }
  [[nodiscard]] std::uint32_t cell() const noexcept { return index_; }

  /// Done with the next cell: consumed, or skipped because its producer is dead.
  void pop() noexcept {
    queue_.word(index_).store(cell_word(lap_ + 1, CellState::free, 0), std::memory_order_release);
    ++head_;
    // A later program of this rank goes on from here.
    queue_.head().store(head_, std::memory_order_relaxed);
    place();
  }

 private:
  void place() noexcept {
    index_ = static_cast<std::uint32_t>(head_ % queue_.cells());
    lap_ = head_ / queue_.cells();
  }
  Queue queue_{};
  std::uint64_t head_ = 0;
  std::uint64_t lap_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace starling::btl
