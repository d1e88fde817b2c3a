// SPDX-License-Identifier: BSD-3-Clause
// Whether the processes of a node compute or wait. Layer: tests.

#include "mpi/runtime/busy.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shm/segments.hpp"

namespace starling::mpi {
namespace {

struct BusyTest : testing::Test {
  shm::Geometry geometry = test::small_geometry(3);
  UniqueFd memfd = test::make_memfd(geometry);
  shm::NodeSegment segments[3] = {test::join(memfd, geometry, 0), test::join(memfd, geometry, 1),
                                  test::join(memfd, geometry, 2)};
  Busy first{segments[0]}, second{segments[1]}, third{segments[2]};
  std::uint64_t now = 1'000'000'000;

  BusyTest() {
    for (shm::NodeSegment& segment : segments) segment.enter();
    for (Busy* process : {&first, &second, &third}) {
      process->waits(now);
      process->waited(now);
    }
    ++now;
  }
  /// The process has something to do for so long, then waits again.
  void works(Busy& process, std::uint64_t ns) {
    process.waited(now);
    process.works();
    now += ns;
    process.waits(now);
  }
};

TEST_F(BusyTest, nobody_is_while_all_wait) {
  const std::uint64_t begin = now;
  works(second, Busy::kComputedNs - 1);
  works(third, 0);
  EXPECT_FALSE(first.others_since(begin)) << "a message was taken and sent on";
}

TEST_F(BusyTest, who_does_not_wait_is) {
  second.works();
  EXPECT_TRUE(first.others_since(now));
  EXPECT_TRUE(third.others_since(now));
  EXPECT_FALSE(second.others_since(now)) << "the others wait";
  second.waits(now);
  EXPECT_FALSE(first.others_since(now));
}

TEST_F(BusyTest, who_has_computed_meanwhile_was) {
  const std::uint64_t begin = now;
  works(second, Busy::kComputedNs);
  EXPECT_TRUE(first.others_since(begin));
  works(second, 1);
  EXPECT_TRUE(first.others_since(begin)) << "what it did since does not change that";
  EXPECT_FALSE(first.others_since(now)) << "but that is over";
}

TEST_F(BusyTest, a_long_wait_is_no_work) {
  now += 1'000'000'000;
  const std::uint64_t begin = now;
  works(second, 1);
  EXPECT_FALSE(first.others_since(begin));
  // It goes on waiting, whatever it looked at meanwhile.
  second.waits(now + Busy::kComputedNs);
  EXPECT_FALSE(first.others_since(begin));
}

TEST_F(BusyTest, who_has_left_is_not) {
  second.works();
  segments[1].leave();
  EXPECT_FALSE(first.others_since(now));
  third.works();
  segments[0].mark_ended(2);
  EXPECT_FALSE(first.others_since(now)) << "killed while it computed";
}

}  // namespace
}  // namespace starling::mpi
