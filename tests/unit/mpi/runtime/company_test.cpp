// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/company.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000;

TEST(Company, a_short_wait_does_not_ask) {
  Company company(true);
  company.begin_wait();
  EXPECT_FALSE(company.worth_asking(Company::kAskAfterNs - 1));
  EXPECT_TRUE(company.worth_asking(Company::kAskAfterNs));
}

TEST(Company, each_wait_asks_once) {
  Company company(true);
  company.begin_wait();
  company.asked();
  EXPECT_FALSE(company.worth_asking(100 * Company::kAskAfterNs));
  company.begin_wait();
  EXPECT_TRUE(company.worth_asking(Company::kAskAfterNs));
}

TEST(Company, nobody_asks_where_waits_would_go_on_alike) {
  Company company(false);
  company.begin_wait();
  EXPECT_FALSE(company.worth_asking(100 * Company::kAskAfterNs));
}

TEST(Company, what_was_found_counts_for_a_while) {
  Company company(true);
  EXPECT_FALSE(company.here(kBegin));
  company.found(kBegin);
  EXPECT_TRUE(company.here(kBegin + Company::kCountsNs - 1));
  EXPECT_FALSE(company.here(kBegin + Company::kCountsNs));
}

/// Yields of a process that is alone but for `switches`.
struct Turns {
  Company& company;
  std::uint64_t now = kBegin;
  long switches = 7;

  void yield(std::uint64_t takes, int times = 1) {
    for (int i = 0; i < times; ++i) {
      company.turn(now, now + takes, [this] { return switches; });
      now += takes;
    }
  }
};

TEST(Company, is_there_for_as_long_as_yields_take_long_now_and_then) {
  Company company(true);
  Turns turns{company};
  company.found(turns.now);
  while (turns.now < kBegin + 2 * Company::kCountsNs) {
    turns.yield(Company::kTurnNs);
    turns.yield(300, Company::kTurnsPerLook - 1);
    ASSERT_TRUE(company.here(turns.now));
  }
}

TEST(Company, has_gone_after_many_yields_to_nobody) {
  Company company(true);
  Turns turns{company};
  company.found(turns.now);
  turns.yield(300, 2 * Company::kTurnsPerLook - 1);
  EXPECT_TRUE(company.here(turns.now));
  turns.yield(300);
  EXPECT_FALSE(company.here(turns.now));
}

TEST(Company, who_yields_back_at_once_is_there) {
  Company company(true);
  Turns turns{company};
  company.found(turns.now);
  for (int look = 0; look < 10; ++look) {
    ++turns.switches;
    turns.yield(1'500, Company::kTurnsPerLook);
    EXPECT_TRUE(company.here(turns.now));
  }
}

TEST(Company, a_long_yield_alone_finds_nobody) {
  Company company(true);
  Turns turns{company};
  turns.yield(100 * Company::kTurnNs);
  EXPECT_FALSE(company.here(turns.now));
}

}  // namespace
}  // namespace starling::mpi
