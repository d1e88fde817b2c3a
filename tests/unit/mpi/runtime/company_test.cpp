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

}  // namespace
}  // namespace starling::mpi
