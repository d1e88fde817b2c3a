// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the node segment. Layer: framework.

#include "frameworks/shm/params.hpp"

#include <algorithm>

#include "frameworks/shm/layout.hpp"

namespace starling::shm {

Result<void> register_params(params::Registry& registry) { return registry.add("shm", kSegmentParams); }

Geometry geometry_from(const params::Registry& params, std::uint32_t local_size) {
  constexpr std::uint64_t kBase = std::uint64_t{64} << 20;
  constexpr std::uint64_t kPerProcess = std::uint64_t{4} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{4} << 30;
  Geometry geometry;
  geometry.local_size = std::max(local_size, 1u);
  geometry.area_bytes = static_cast<std::uint32_t>(
      round_up(static_cast<std::size_t>(params.integer(kSegmentParams[0])), kPageBytes));
  const auto arena = static_cast<std::uint64_t>(params.integer(kSegmentParams[1]));
  geometry.arena_bytes =
      arena == 0 ? std::min(kBase + kPerProcess * geometry.local_size, kMost) : round_up(arena, kPageBytes);
  return geometry;
}

}  // namespace starling::shm
