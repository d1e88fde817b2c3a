// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which processes of the node compute, and which wait in MPI. Layer: mpi.
/// docs/design/waiting.md
///
/// A process that yields its core and gets it back late asks who had it: a process of the job, which may
/// compute what others wait for, or a foreign one.
///
/// Threads: one at a time in a process; a slot's word is written by its process and read by all, relaxed.
/// Units: nanoseconds of CLOCK_MONOTONIC.

#include <atomic>
#include <cstdint>

#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class Busy {
 public:
  /// A process that is outside of waits for a shorter time has not computed: it has taken a message and sent
  /// another one.
  static constexpr std::uint64_t kComputedNs = 100'000;

  Busy() = default;
  explicit Busy(shm::NodeSegment& segment) noexcept
      : segment_(&segment), own_(&segment.slot(segment.local_rank()).busy_until) {}

  /// This process begins to wait, if it did not wait already. Before its first wait it counts as computing.
  void waits(std::uint64_t now) noexcept {
    if (waits_) return;
    waits_ = true;
    if (now - waited_ns_ >= kComputedNs) until_ns_ = now;
    own_->store(until_ns_, std::memory_order_relaxed);
  }
  /// This process still waited at `now`.
  void waited(std::uint64_t now) noexcept { waited_ns_ = now; }
  /// This process has got what it waited for.
  void works() noexcept {
    if (!waits_) return;
    waits_ = false;
    own_->store(shm::kBusy, std::memory_order_relaxed);
  }
  /// Whether another process of the node has computed since `begin`. Reads a cache line of each.
  [[nodiscard]] bool others_since(std::uint64_t begin) const noexcept {
    for (std::uint32_t local = 0; local < segment_->local_size(); ++local) {
      if (local == segment_->local_rank()) continue;
      const shm::ProcSlot& slot = segment_->slot(local);
      const auto state = static_cast<shm::ProcState>(slot.state.load(std::memory_order_relaxed));
      if (state == shm::ProcState::attached && slot.busy_until.load(std::memory_order_relaxed) > begin)
        return true;
    }
    return false;
  }

 private:
  shm::NodeSegment* segment_ = nullptr;
  std::atomic<std::uint64_t>* own_ = nullptr;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t until_ns_ = 0;
  bool waits_ = false;
};

}  // namespace starling::mpi
