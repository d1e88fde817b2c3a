// SPDX-License-Identifier: BSD-3-Clause
// Whether long records are cleaned where that is faster, or as the user has fixed it.

#include <gtest/gtest.h>

#include "plugins/btl/shm/cleaning.hpp"

namespace starling::test {
namespace {

using btl::Cleaning;
using btl::LongCleaning;

TEST(Cleaning, the_faster_way_is_chosen_and_leaving_is_tried_first) {
  for (const std::uint64_t cleaned_ns : {2000u, 9000u}) {
    Cleaning cleaning(LongCleaning::automatic);
    EXPECT_FALSE(cleaning.on());
    while (!cleaning.took(cleaning.on() ? cleaned_ns : 4000)) {
    }
    EXPECT_EQ(cleaning.on(), cleaned_ns < 4000);
    EXPECT_EQ(cleaning.cost_ns(true), cleaned_ns);
    EXPECT_EQ(cleaning.cost_ns(false), 4000u);
  }
}

TEST(Cleaning, what_the_user_fixed_is_not_tried) {
  for (const LongCleaning use : {LongCleaning::always, LongCleaning::never}) {
    Cleaning cleaning(use);
    for (unsigned at = 0; at < 100; ++at) {
      EXPECT_FALSE(cleaning.took(at % 2));
      EXPECT_EQ(cleaning.on(), use == LongCleaning::always);
    }
  }
}

}  // namespace
}  // namespace starling::test
