// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether to yield while waiting, on a node with more ranks than cores. Layer: mpi.
/// docs/design/waiting.md
///
/// A yield gives the core to the process that is waited for in a microsecond. But who yields to a program
/// that has nothing to do with the job forfeits its time slice to it and is late for milliseconds. So after
/// two long yields the processes of the node sleep instead, for a pause, which doubles with each long yield
/// after a pause until yields are short again. One alone says nothing: a hypervisor, or somebody else's
/// process, takes a core for a millisecond now and then. Nor does a long yield while the node's own processes
/// computed (busy.hpp): what is waited for is their work, and sleeping would only add the waking.
///
/// The pause is the node's, not the process's: one that yields among others that sleep is late like one that
/// yields while others compute. If each had a pause of its own, they would keep each other asleep.
///
/// Threads: one at a time in a process; the pause by all processes of the node. Units: nanoseconds.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class Yields {
 public:
  /// A yield that takes longer has let somebody compute, and not only all ranks of the node poll.
  static constexpr std::uint64_t kLongNs = 300'000, kPollOfRankNs = 50'000;
  /// The same where ranks of other nodes are on the machine, which may be who has computed.
  static constexpr std::uint64_t kLongBesideNodesNs = 20'000'000;
  static constexpr std::uint64_t kLeastPauseNs = 2'000'000, kMostPauseNs = 256'000'000;
  /// How many times as long as the yield behind it a pause is at most: what trying again costs stays small,
  /// and so does what a pause costs that was not worth it.
  static constexpr std::uint64_t kPauses = 16;
  /// Two long ones with as many short ones between them have nothing to do with each other.
  static constexpr std::uint32_t kShortBetween = 50;
  /// After how many short ones in a row nobody else computes any more.
  static constexpr std::uint32_t kShortInARow = 2000;

  Yields() = default;
  Yields(shm::YieldPause& pause, std::size_t ranks) noexcept
      : pause_(&pause), long_ns_(kLongNs + kPollOfRankNs * ranks) {}

  /// Whether the node's processes sleep rather than yield.
  [[nodiscard]] bool paused(std::uint64_t now) const noexcept {
    const std::uint64_t until = pause_->until_ns.load(std::memory_order_relaxed);
    // One that ends later than any can is of a process with another clock (a time namespace).
    return now < until && until - now <= kMostPauseNs;
  }
  /// A yield of this process; returns whether it was a long one that let others than the node's processes
  /// compute. `ours()`: whether these have; asked of long ones only.
  template <class Ours>
  bool note(std::uint64_t begin, std::uint64_t end, Ours&& ours) noexcept {
    if (end - begin <= long_ns_ || (end - begin <= kLongBesideNodesNs && nodes_here())) {
      if (++short_in_a_row_ == kShortInARow) pause_->length_ns.store(0, std::memory_order_relaxed);
      return false;
    }
    if (ours()) return false;
    const bool alone = std::exchange(short_in_a_row_, 0) >= kShortBetween;
    const std::uint64_t before = pause_->length_ns.load(std::memory_order_relaxed);
    if (alone && before == 0) return true;
    std::uint64_t until = pause_->until_ns.load(std::memory_order_relaxed);
    // Another one has noticed the same if a pause has begun meanwhile.
    if (begin < until && until - begin <= 2 * kMostPauseNs) return true;
    const std::uint64_t most = std::clamp(kPauses * (end - begin), kLeastPauseNs, kMostPauseNs);
    const std::uint64_t length = std::clamp(2 * before, kLeastPauseNs, most);
    if (pause_->until_ns.compare_exchange_strong(until, end + length, std::memory_order_relaxed))
      pause_->length_ns.store(length, std::memory_order_relaxed);
    return true;
  }

 private:
  [[nodiscard]] bool nodes_here() const noexcept {
    return pause_->nodes_here.load(std::memory_order_relaxed);
  }
  shm::YieldPause* pause_ = nullptr;
  std::uint64_t long_ns_ = kLongNs;
  std::uint32_t short_in_a_row_ = kShortBetween;
};

}  // namespace starling::mpi
