// SPDX-License-Identifier: BSD-3-Clause
// When the processes of a node sleep rather than yield. Layer: tests.

#include "mpi/runtime/yields.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

constexpr std::uint64_t kShort = 2'000, kLong = 3'000'000;
constexpr std::size_t kRanks = 4;

constexpr auto not_ours = [] { return false; };

struct YieldsTest : testing::Test {
  shm::YieldPause pause{};
  Yields one{pause, kRanks}, other{pause, kRanks};
  std::uint64_t now = 1'000'000'000;

  bool yields(Yields& process, std::uint64_t ns) {
    const std::uint64_t begin = now;
    now += ns;
    return process.note(begin, now, not_ours);
  }
  /// The next long yield of either is the second.
  void one_each() {
    for (Yields* process : {&one, &other}) EXPECT_TRUE(yields(*process, kLong));
    EXPECT_FALSE(one.paused(now));
  }
  /// How long the pause lasts from now on.
  std::uint64_t left() const { return pause.until_ns.load() - now; }
};

TEST_F(YieldsTest, go_on_while_they_are_short) {
  EXPECT_FALSE(one.paused(now));
  EXPECT_FALSE(yields(one, kShort));
  EXPECT_FALSE(yields(one, Yields::kLongNs + kRanks * Yields::kPollOfRankNs));
  EXPECT_FALSE(one.paused(now));
}

TEST_F(YieldsTest, a_long_one_alone_says_nothing) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(yields(one, kLong));
    EXPECT_FALSE(one.paused(now));
    for (std::uint32_t k = 0; k < Yields::kShortBetween; ++k) EXPECT_FALSE(yields(one, kShort));
  }
}

TEST_F(YieldsTest, one_that_let_the_jobs_own_processes_compute_does_not_count) {
  const auto ours = [] { return true; };
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(one.note(now, now + kLong, ours));
    now += kLong;
  }
  EXPECT_FALSE(one.paused(now));
  EXPECT_TRUE(yields(one, kLong)) << "the first of the others";
  EXPECT_FALSE(one.paused(now));
}

TEST_F(YieldsTest, ranks_of_other_nodes_on_the_machine_may_have_computed) {
  pause.nodes_here = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(yields(one, Yields::kLongBesideNodesNs));
  EXPECT_FALSE(one.paused(now));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(yields(one, Yields::kLongBesideNodesNs + 1));
  EXPECT_TRUE(one.paused(now));
}

TEST_F(YieldsTest, who_computed_is_asked_of_long_ones_only) {
  int asked = 0;
  EXPECT_FALSE(one.note(now, now + kShort, [&] { return ++asked != 0; }));
  EXPECT_EQ(asked, 0);
}

TEST_F(YieldsTest, pause_on_the_whole_node_after_two_long_ones) {
  EXPECT_TRUE(yields(one, kLong));
  for (std::uint32_t k = 1; k < Yields::kShortBetween; ++k) EXPECT_FALSE(yields(one, kShort));
  EXPECT_TRUE(yields(other, kLong)) << "each counts its own";
  EXPECT_FALSE(one.paused(now));
  EXPECT_TRUE(yields(one, kLong));
  EXPECT_TRUE(one.paused(now));
  EXPECT_TRUE(other.paused(now));
  EXPECT_TRUE(other.paused(now + Yields::kLeastPauseNs - 1));
  EXPECT_FALSE(other.paused(now + Yields::kLeastPauseNs));
}

TEST_F(YieldsTest, who_was_away_at_the_same_time_does_not_make_it_longer) {
  one_each();
  const std::uint64_t begin = now;
  EXPECT_TRUE(yields(one, kLong));
  EXPECT_TRUE(other.note(begin, now + 1, not_ours));
  EXPECT_EQ(left(), Yields::kLeastPauseNs);
}

TEST_F(YieldsTest, pause_twice_as_long_if_the_first_after_a_pause_is_long_again) {
  one_each();
  std::uint64_t expected = Yields::kLeastPauseNs;
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(yields(i % 2 == 0 ? one : other, kLong));
    EXPECT_EQ(left(), expected);
    expected = std::min(2 * expected, Yields::kPauses * kLong);
    now += left();
  }
  EXPECT_EQ(expected, Yields::kPauses * kLong);
}

TEST_F(YieldsTest, pauses_have_an_end_however_long_a_yield_was) {
  one_each();
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(yields(one, Yields::kMostPauseNs));
    now += left();
  }
  EXPECT_TRUE(yields(one, Yields::kMostPauseNs));
  EXPECT_EQ(left(), Yields::kMostPauseNs);
}

TEST_F(YieldsTest, a_pause_stays_in_proportion_to_the_yield_behind_it) {
  one_each();
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(yields(one, 8 * kLong));
    now += left();
  }
  EXPECT_TRUE(yields(one, kLong));
  EXPECT_EQ(left(), Yields::kPauses * kLong);
}

TEST_F(YieldsTest, a_row_of_short_ones_is_the_end_of_that) {
  one_each();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(yields(one, kLong));
    now += left();
  }
  for (std::uint32_t i = 0; i < Yields::kShortInARow; ++i) EXPECT_FALSE(yields(other, kShort));
  EXPECT_TRUE(yields(other, kLong)) << "alone";
  EXPECT_FALSE(one.paused(now));
  EXPECT_TRUE(yields(other, kLong));
  EXPECT_EQ(left(), Yields::kLeastPauseNs);
}

TEST_F(YieldsTest, a_pause_of_another_clock_does_not_count) {
  one_each();
  pause.until_ns = now + 3600'000'000'000;
  EXPECT_FALSE(one.paused(now));
  EXPECT_TRUE(yields(one, kLong));
  EXPECT_TRUE(one.paused(now));
  EXPECT_EQ(left(), Yields::kLeastPauseNs);
}

}  // namespace
}  // namespace starling::mpi
