// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Node segments for tests: several "processes" of one memfd inside one program. Layer: tests.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "frameworks/shm/node_segment.hpp"
#include "frameworks/shm/params.hpp"

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

/// A folder for named segments of one test, and the parameters of segments.
class SegmentFolder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/dev/shm/starling-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory = name;
    ASSERT_TRUE(shm::register_params(params));
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  params::Registry params;
  std::string directory;
};

}  // namespace starling::test
