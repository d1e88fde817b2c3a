// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/contention.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000;

TEST(Contention, a_short_wait_does_not_ask) {
  Contention contention(true);
  contention.begin_wait();
  EXPECT_FALSE(contention.worth_asking(Contention::kAskAfterNs - 1));
  EXPECT_TRUE(contention.worth_asking(Contention::kAskAfterNs));
}

TEST(Contention, each_wait_asks_once) {
  Contention contention(true);
  contention.begin_wait();
  contention.asked();
  EXPECT_FALSE(contention.worth_asking(100 * Contention::kAskAfterNs));
  contention.begin_wait();
  EXPECT_TRUE(contention.worth_asking(Contention::kAskAfterNs));
}

TEST(Contention, nobody_asks_where_waits_would_go_on_alike) {
  Contention contention(false);
  contention.begin_wait();
  EXPECT_FALSE(contention.worth_asking(100 * Contention::kAskAfterNs));
}

TEST(Contention, what_was_found_counts_for_a_while) {
  Contention contention(true);
  EXPECT_FALSE(contention.here(kBegin));
  contention.found(kBegin);
  EXPECT_TRUE(contention.here(kBegin + Contention::kCountsNs - 1));
  EXPECT_FALSE(contention.here(kBegin + Contention::kCountsNs));
}

/// Yields of a process that is alone but for `switches`.
struct Turns {
  Contention& contention;
  std::uint64_t now = kBegin;
  long switches = 7;

  void yield(std::uint64_t takes, int times = 1) {
    for (int i = 0; i < times; ++i) {
      contention.turn(now, now + takes, [this] { return switches; });
      now += takes;
    }
  }
};

TEST(Contention, is_there_for_as_long_as_yields_take_long_now_and_then) {
  Contention contention(true);
  Turns turns{contention};
  contention.found(turns.now);
  while (turns.now < kBegin + 2 * Contention::kCountsNs) {
    turns.yield(Contention::kTurnNs);
    turns.yield(300, Contention::kTurnsPerLook - 1);
    ASSERT_TRUE(contention.here(turns.now));
  }
}

TEST(Contention, has_gone_after_many_yields_to_nobody) {
  Contention contention(true);
  Turns turns{contention};
  contention.found(turns.now);
  turns.yield(300, 2 * Contention::kTurnsPerLook - 1);
  EXPECT_TRUE(contention.here(turns.now));
  turns.yield(300);
  EXPECT_FALSE(contention.here(turns.now));
}

TEST(Contention, who_yields_back_at_once_is_there) {
  Contention contention(true);
  Turns turns{contention};
  contention.found(turns.now);
  for (int look = 0; look < 10; ++look) {
    ++turns.switches;
    turns.yield(1'500, Contention::kTurnsPerLook);
    EXPECT_TRUE(contention.here(turns.now));
  }
}

TEST(Contention, a_long_yield_alone_finds_nobody) {
  Contention contention(true);
  Turns turns{contention};
  turns.yield(100 * Contention::kTurnNs);
  EXPECT_FALSE(contention.here(turns.now));
}

}  // namespace
}  // namespace starling::mpi
