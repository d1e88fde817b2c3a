// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Node segments for tests: several "processes" of one memfd inside one program. Layer: tests.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "core/ids.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::test {

inline shm::Geometry small_geometry(std::uint32_t local_size, std::uint64_t arena_bytes = 8u << 20) {
  return {.local_size = local_size, .area_bytes = 16384, .arena_bytes = arena_bytes};
}

/// Another mapping of the same memfd, as another process would have it.
inline shm::NodeSegment join(const UniqueFd& memfd, const shm::Geometry& geometry, std::uint32_t local_rank) {
  shm::Segment segment;
  segment.fd = UniqueFd(::fcntl(memfd.get(), F_DUPFD_CLOEXEC, 0));
  auto mapping = Mapping::map(segment.fd.get(), geometry.total_bytes());
  EXPECT_TRUE(mapping) << mapping.error().text();
  segment.mapping = std::move(mapping).value();
  auto opened = shm::NodeSegment::open(std::move(segment), geometry, local_rank);
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(opened).value();
}

inline UniqueFd make_memfd(const shm::Geometry& geometry) {
  auto made = shm::create_memfd("starling-test", geometry, shm::job_nonce("test"));
  EXPECT_TRUE(made) << made.error().text();
  return std::move(made).value();
}

/// Place::local_rank_of where all processes of the world are on one node; `context` is their number.
inline std::int64_t rank_is_local_rank(const void* context, ProcId proc) noexcept {
  return proc.world == 0 && proc.rank < *static_cast<const std::uint32_t*>(context) ? std::int64_t{proc.rank}
                                                                                    : -1;
}

}  // namespace starling::test
