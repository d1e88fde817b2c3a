// SPDX-License-Identifier: BSD-3-Clause
// Ends of processes. What is hard: who looks at a process may be put aside for a second between two looks.
// Layer: framework. Design: docs/design/shared-memory.md.

#include "frameworks/shm/ends.hpp"

#include "frameworks/shm/layout.hpp"

namespace starling::shm {

bool mark_left_ended(NodeSegment& segment, std::uint32_t local_rank) noexcept {
  auto left = static_cast<std::uint32_t>(ProcState::left);
  if (!segment.slot(local_rank)
           .state.compare_exchange_strong(left, static_cast<std::uint32_t>(ProcState::ended),
                                          std::memory_order_acq_rel))
    return false;
  reinterpret_cast<Header*>(segment.at(0))->ends.fetch_add(1, std::memory_order_release);
  return true;
}

void tell_ends(NodeSegment& segment) noexcept {
  for (std::uint32_t i = 0; i < segment.local_size(); ++i) {
    const std::uint32_t attention = segment.slot(i).attention.load(std::memory_order_relaxed);
    if (attention >> kAwaitedShift != kAwaitsNoEnd) segment.ring(i);
  }
}

bool is_alive(const ProcSlot& slot, const std::function<bool()>& there) {
  const auto state = [&] { return static_cast<ProcState>(slot.state.load(std::memory_order_acquire)); };
  const ProcState before = state();
  if (before != ProcState::attached) return before != ProcState::exited;
  if (there()) return true;
  // It may have left and ended in order since: with thousands of processes on few cores, this one may not
  // have run for a while.
  const ProcState after = state();
  return after != ProcState::attached && after != ProcState::exited;
}

}  // namespace starling::shm
