// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the component of btl/shm and its endpoints share. Layer: plugin.
///
/// Threads: one at a time. Ownership: the component's; endpoints borrow it.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "core/atomics.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/shm/claims/copies.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "plugins/btl/shm/cleaning.hpp"
#include "plugins/btl/shm/lane_cap.hpp"
#include "plugins/btl/shm/layout.hpp"
#include "plugins/btl/shm/mapped_gets.hpp"
#include "plugins/btl/shm/mapped_writes.hpp"
#include "plugins/btl/shm/params.hpp"

namespace starling::btl {

struct Settings {
  std::uint32_t lane_after = 4;
  std::uint64_t lane_first_bytes = 4096;
  std::uint64_t lane_max_bytes = 512 * 1024;
  LongCleaning lane_cleaning = LongCleaning::automatic;
  std::uint64_t lanes_total_bytes = std::uint64_t{256} << 20;
  std::uint64_t memory_wait_ns = 10'000'000'000;
  bool cma = true;
  MapChoice map = MapChoice::automatic;
  std::uint32_t maps_most = 64;

  [[nodiscard]] static Settings from(const params::Registry& params) {
    const auto size = [&params](const params::Decl& decl) {
      return std::bit_ceil(static_cast<std::uint64_t>(params.integer(decl)));
    };
    Settings settings;
    settings.lane_after = static_cast<std::uint32_t>(params.integer(kLaneAfter));
    settings.lane_max_bytes = size(kLaneMaxBytes);
    settings.lane_first_bytes = std::min(size(kLaneFirstBytes), settings.lane_max_bytes);
    settings.lane_cleaning = params.choice<LongCleaning>(kLaneCleaning);
    settings.lanes_total_bytes = static_cast<std::uint64_t>(params.integer(kLanesTotalBytes));
    settings.memory_wait_ns = static_cast<std::uint64_t>(params.integer(kMemoryWaitSeconds)) * 1'000'000'000;
    settings.cma = params.boolean(kUseCma);
    settings.map = params.choice<MapChoice>(kMap);
    settings.maps_most = static_cast<std::uint32_t>(params.integer(kMapsMost));
    return settings;
  }
};

class ShmEndpoint;

struct Shared {
  Shared(shm::NodeSegment& of_segment, Sink& to_sink, const Place& at_place, const Settings& with) noexcept
      : segment(of_segment),
        sink(to_sink),
        place(at_place),
        settings(with),
        lanes(of_segment, with.lanes_total_bytes),
        mapped(of_segment, with.map, with.maps_most),
        written(of_segment, with.map, with.maps_most),
        copies(of_segment, {with.maps_most, at_place.cores, at_place.domains}) {}

  shm::NodeSegment& segment;
  Sink& sink;
  Place place;
  Settings settings;
  LaneCap lanes;
  MappedGets mapped;
  MappedWrites written;
  shm::SharedCopies copies;  ///< copies that several processes make together
  Limits limits;
  Component::Counters counters;
  ShmEndpoint* waiting = nullptr;  ///< has sent a record of several lines, and may fetch the lines of the
                                   ///< next one

  /// A fallback with its reason, for the report; each text once.
  void note(std::string text) {
    constexpr std::size_t kMost = 16;
    auto& notes = counters.notes;
    if (notes.size() < kMost && std::find(notes.begin(), notes.end(), text) == notes.end()) {
      notes.push_back(std::move(text));
    }
  }
  [[nodiscard]] MappedIngress ingress_of(std::uint32_t local_rank) noexcept {
    return {segment.area(local_rank), segment.area_bytes()};
  }
  [[nodiscard]] shm::Doorbell<StdAtomics> bell_of(std::uint32_t local_rank) noexcept {
    return {segment.slot(local_rank).doorbell, segment.slot(local_rank).attention,
            segment.registered_for_fences()};
  }
  /// The pid for copies by the kernel. 0, which the kernel refuses, for a process that has ended: its pid may
  /// belong to another one.
  [[nodiscard]] pid_t pid_of(std::uint32_t local_rank) const noexcept {
    const auto& slot = segment.slot(local_rank);
    const auto state = static_cast<shm::ProcState>(slot.state.load(std::memory_order_acquire));
    if (state == shm::ProcState::exited || state == shm::ProcState::ended) return 0;
    return static_cast<pid_t>(slot.pid.load(std::memory_order_relaxed));
  }
  [[nodiscard]] MappedRing ring_at(const LaneExtent& extent) noexcept {
    return {segment.at(extent.offset), extent.bytes};
  }
};

}  // namespace starling::btl
