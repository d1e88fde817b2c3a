// SPDX-License-Identifier: BSD-3-Clause
// Taking lanes back. Layer: plugin. Design: docs/design/lanes.md.

#include "plugins/btl/shm/lane_cap.hpp"

#include <algorithm>

#include "plugins/btl/shm/endpoint.hpp"

namespace starling::btl {

void LaneCap::closed(ShmEndpoint& endpoint) noexcept {
  lanes_.erase(std::remove(lanes_.begin(), lanes_.end(), &endpoint), lanes_.end());
}

bool LaneCap::allows(std::uint64_t bytes) const noexcept {
  return segment_.arena_used() + bytes <= total_bytes_;
}

void LaneCap::make_room(std::uint64_t bytes) noexcept { close_unused(1, bytes); }

void LaneCap::look() noexcept { close_unused(2, 0); }

void LaneCap::close_unused(std::uint32_t looks, std::uint64_t wanted) noexcept {
  for (ShmEndpoint* endpoint : lanes_) endpoint->look_at_lane();
  const std::uint64_t used = segment_.arena_used() + wanted;
  std::uint64_t excess = used > total_bytes_ ? used - total_bytes_ : 0;
  while (excess != 0) {
    const auto oldest = std::max_element(
        lanes_.begin(), lanes_.end(),
        [](const ShmEndpoint* a, const ShmEndpoint* b) { return a->unused_looks() < b->unused_looks(); });
    if (oldest == lanes_.end() || (*oldest)->unused_looks() < looks) return;
    excess -= std::min(excess, (*oldest)->lane_bytes());
    (*oldest)->close_lane();  // which takes it off the list
  }
}

}  // namespace starling::btl
