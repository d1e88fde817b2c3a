// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of btl/shm. What is hard here is order: a message in the ingress may be older than a
// lane (it came before the lane was announced) or newer (the lane was closed first), and a lane may lead to a
// larger one. Layer: plugin. Design: docs/design/lanes.md.

#include <cstring>
#include <string>

#include "core/clock.hpp"
#include "plugins/btl/shm/activity.hpp"
#include "plugins/btl/shm/component.hpp"

namespace starling::btl {
namespace {

constexpr int kBurst = 32;               // messages of one lane before the others are looked at
constexpr std::uint32_t kFairness = 16;  // progress calls that the hot lane may fill alone
constexpr std::uint32_t kLongBytes = MappedRing::kLongCells * kCellBytes;
constexpr std::size_t kWideAbove = 64;  // lanes
constexpr std::size_t kNarrowBelow = 32;

}  // namespace

int ShmComponent::progress() noexcept {
  int events = 0;
  if (hot_ != nullptr && hot_->lane.peek() != 0) {
    events = drain(*hot_, kBurst);
    if (++streak_ % kFairness != 0 && !closed_some_) return events;
  }
  if (lanes_.size() != 1 || hot_ == nullptr) events += wide_ ? drain_marked() : drain_all();
  if (ingress_.peek() != 0) [[unlikely]]
    events += drain_ingress();
  if (closed_some_) [[unlikely]]
    forget_closed();
  if (events == 0) events = idle();
  return events;
}

bool ShmComponent::begin_sleep() noexcept {
  (void)shared_.segment.prepare_sleep();
  shared_.copies.asleep();
  for (Incoming* from : lanes_) {
    if (from->lane.peek() != 0) return false;
    from->lane.tidy();
    if (from->lane.gave_back()) ring_for_room(*from);
  }
  return ingress_.peek() == 0;
}

int ShmComponent::drain_all() noexcept {
  int events = 0;
  for (Incoming* from : lanes_) {
    if (from == hot_ || from->lane.peek() == 0) continue;
    const int here = drain(*from, kBurst);
    if (here != 0) {
      events += here;
      hot_ = from;
    }
  }
  return events;
}

int ShmComponent::drain_marked() noexcept {
  int events = 0;
  auto& words = shared_.ingress_of(shared_.place.local_rank).header().activity;
  const std::uint32_t used = (shared_.place.local_size + 63) / 64;
  for (std::uint32_t i = 0; i < used; ++i) {
    std::uint64_t bits = take_activity<StdAtomics>(words[i]);
    while (bits != 0) {
      const int bit = __builtin_ctzll(bits);
      bits &= bits - 1;
      const auto found = incoming_.find(i * 64 + static_cast<std::uint32_t>(bit));
      if (found == incoming_.end()) continue;
      Incoming& from = *found->second;
      events += drain(from, kBurst);
      // More may be there, which nobody would mark again.
      if (from.open && from.lane.peek() != 0) mark_own(from);
    }
  }
  return events;
}

namespace {
/// The message's other lines come while the sink looks for who receives it.
inline void fetch_ahead(const std::byte* payload, std::uint32_t bytes) noexcept {
  constexpr std::uint32_t kMost = 1024;
  const std::uint32_t end = std::min(bytes, kMost);
  for (std::uint32_t at = kCellBytes - 8; at < end; at += kCellBytes) __builtin_prefetch(payload + at);
}
}  // namespace

int ShmComponent::drain(Incoming& from, int most) noexcept {
  int events = 0;
  while (events < most && from.open) {
    const std::uint64_t header = from.lane.peek();
    if (header == 0) break;
    const std::byte* const payload = from.lane.ring().payload(from.lane.cell());
    const std::uint32_t bytes = bytes_of(header);
    fetch_ahead(payload, bytes);
    switch (kind_of(header)) {
      case RecordKind::data:
        ++shared_.counters.messages_received;
        shared_.counters.bytes_received += bytes;
        shared_.sink.on_message(from.origin, {payload, bytes});
        from.lane.pop(cells_for(bytes));
        if (bytes >= kLongBytes) {
          count_long(from, bytes);
          most = events;  // whoever waits for it may post the receive of the next one first
        }
        break;
      case RecordKind::moved: switch_lane(from); break;
      default: close_lane(from); break;
    }
    ++events;
  }
  if (from.lane.gave_back()) ring_for_room(from);
  untidy_ = true;
  return events;
}

// A long record has been read. The clock is read once in a stretch.
inline void ShmComponent::count_long(Incoming& from, std::uint32_t bytes) noexcept {
  from.stretch_bytes += bytes;
  if (from.stretch_bytes >= Cleaning::kStretchBytes) [[unlikely]]
    end_stretch(from);
}

[[gnu::noinline]] void ShmComponent::end_stretch(Incoming& from) noexcept {
  const std::uint64_t now = now_ns();
  const bool first = from.stretch_began_ns == 0;
  const std::uint64_t stretch_ns = now - from.stretch_began_ns;
  from.stretch_began_ns = now;
  from.stretch_bytes = 0;
  if (!first && cleaning_.took(stretch_ns)) {
    shared_.note("512 KiB of long messages are read in " +
                 std::to_string(cleaning_.cost_ns(CleanLong::never)) + " ns, in " +
                 std::to_string(cleaning_.cost_ns(CleanLong::when_idle)) +
                 " ns if their cache lines are taken over when nothing else has come, or in " +
                 std::to_string(cleaning_.cost_ns(CleanLong::always)) + " ns if that is always done");
  }
  from.lane.clean_long(cleaning_.when());
}

// Nothing has come: time to give cells back.
[[gnu::noinline]] void ShmComponent::tidy() noexcept {
  untidy_ = false;
  for (Incoming* from : lanes_) {
    from->lane.tidy();
    if (from->lane.gave_back()) ring_for_room(*from);
  }
}

// Cells were given back: a writer that found the lane full may sleep until then.
inline void ShmComponent::ring_for_room(Incoming& from) noexcept {
  const std::uint32_t attention = shared_.bell_of(from.local_rank).attention();
  if ((attention & shm::kAsleep) != 0 && from.lane.wanted()) [[unlikely]]
    shared_.segment.wake(from.local_rank);
}

void ShmComponent::switch_lane(Incoming& from) noexcept {
  LaneExtent next;
  std::memcpy(&next, from.lane.ring().payload(from.lane.cell()), sizeof(next));
  shared_.segment.release(from.extent.offset, from.extent.bytes);
  from.extent = next;
  from.lane = LaneReader<StdAtomics, MappedRing>(shared_.ring_at(next));
  from.lane.clean_long(cleaning_.when());
}

void ShmComponent::open_lane(Incoming& from, const LaneExtent& extent) noexcept {
  expects(!from.open, "a second lane of one process");
  from.extent = extent;
  from.lane = LaneReader<StdAtomics, MappedRing>(shared_.ring_at(extent));
  from.lane.clean_long(cleaning_.when());
  from.open = true;
  lanes_.push_back(&from);
  if (wide_ && hot_ != nullptr) {
    // The lane that was polled without being marked may still hold messages.
    mark_own(*hot_);
  }
  hot_ = &from;
  choose_width();
}

void ShmComponent::close_lane(Incoming& from) noexcept {
  shared_.segment.release(from.extent.offset, from.extent.bytes);
  from.open = false;
  closed_some_ = true;  // lanes_ may be being walked
}

void ShmComponent::forget_closed() noexcept {
  closed_some_ = false;
  if (hot_ != nullptr && !hot_->open) hot_ = nullptr;
  lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(), [](const Incoming* from) { return !from->open; }),
               lanes_.end());
  choose_width();
}

void ShmComponent::choose_width() noexcept {
  auto& attention = shared_.segment.slot(shared_.place.local_rank).attention;
  const bool possible = shared_.place.local_size <= kActivityWords * 64;
  if (!wide_ && lanes_.size() > kWideAbove && possible) {
    wide_ = true;
    request_activity<StdAtomics>(attention);
    shared_.segment.fence_all();
    for (const Incoming* from : lanes_) mark_own(*from);
  } else if (wide_ && lanes_.size() < kNarrowBelow) {
    wide_ = false;
    attention.fetch_and(~shm::kWantsActivity, std::memory_order_relaxed);
  }
}

void ShmComponent::mark_own(const Incoming& from) noexcept {
  auto& words = shared_.ingress_of(shared_.place.local_rank).header().activity;
  words[from.local_rank / 64].fetch_or(std::uint64_t{1} << (from.local_rank % 64), std::memory_order_relaxed);
}

int ShmComponent::drain_ingress() noexcept {
  int events = 0;
  while (events < kBurst) {
    const std::uint64_t word = ingress_.peek();
    if (word == 0) break;
    const std::uint32_t local_rank = rank_of(word);
    if (state_of(word) == CellState::full) {
      take_ingress_cell(local_rank, shared_.ingress_of(shared_.place.local_rank).cell(ingress_.cell()));
    } else if (!claimer_died(local_rank)) {
      break;
    }
    ingress_.pop();
    ++events;
  }
  return events;
}

void ShmComponent::take_ingress_cell(std::uint32_t local_rank, const IngressCell& cell) noexcept {
  Incoming& from = incoming(local_rank, cell.world_rank);
  // A process with a lane writes into the ingress only after it has closed the lane.
  while (from.open && drain(from, kBurst) != 0) {
  }
  if (closed_some_) forget_closed();
  if (cell.kind == static_cast<std::uint16_t>(IngressKind::lane)) {
    LaneExtent extent;
    std::memcpy(&extent, cell.payload, sizeof(extent));
    open_lane(from, extent);
    return;
  }
  ++shared_.counters.messages_received;
  shared_.counters.bytes_received += cell.bytes;
  shared_.sink.on_message(from.origin, {cell.payload, cell.bytes});
}

// A claimed cell holds up everything behind it. Its producer needs some nanoseconds, unless it lost its
// processor or its life.
bool ShmComponent::claimer_died(std::uint32_t local_rank) noexcept {
  constexpr std::uint32_t kPollsPerLook = 4096;
  return ++claim_polls_ % kPollsPerLook == 0 && !shared_.segment.alive(local_rank);
}

Incoming& ShmComponent::incoming(std::uint32_t local_rank, std::uint32_t world_rank) {
  auto& from = incoming_[local_rank];
  if (from == nullptr) {
    from = std::make_unique<Incoming>();
    from->origin.proc = ProcId{shared_.place.self.world, world_rank};
    from->local_rank = local_rank;
  }
  return *from;
}

}  // namespace starling::btl
