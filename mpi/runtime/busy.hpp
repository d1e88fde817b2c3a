// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which processes of the node compute, and which wait in MPI. Layer: mpi.
/// docs/design/waiting.md
///
/// A process that yields its core and is away for long asks who had it: one of the node's own, which does
/// what it is waited for, or somebody else's.
///
/// Threads: one at a time in a process; a slot's word is written by its process and read by all, relaxed.
/// Units: nanoseconds of CLOCK_MONOTONIC.

#include <atomic>
#include <cstdint>

#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class Busy {
 public:
  /// Who is outside of waits for less has not computed: it has taken a message and sent one on.
  static constexpr std::uint64_t kComputedNs = 100'000;

  Busy() = default;
  explicit Busy(shm::NodeSegment& segment) noexcept
      : segment_(&segment), own_(&segment.slot(segment.local_rank()).busy_until) {}

  /// This process begins to wait, unless it does so already. Until its first wait it has computed.
  void waits(std::uint64_t now) noexcept {
    if (waits_) return;
    waits_ = true;
    if (now - waited_ns_ >= kComputedNs) until_ns_ = now;
    own_->store(until_ns_, std::memory_order_relaxed);
  }
  /// It still waited at this time.
  void waited(std::uint64_t now) noexcept { waited_ns_ = now; }
  /// It has what it waited for.
  void works() noexcept {
    if (!waits_) return;
    waits_ = false;
    own_->store(shm::kBusy, std::memory_order_relaxed);
  }
  /// Whether another process of the node has computed since then. Reads a line of each.
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
