// SPDX-License-Identifier: BSD-3-Clause
// How long waits poll and yield. Layer: tests.

#include "mpi/runtime/patience.hpp"

#include <gtest/gtest.h>

namespace starling::mpi {
namespace {

TEST(PatienceTest, does_not_sleep_in_a_millisecond_on_a_core_of_its_own) {
  constexpr Patience patience = Patience::of(-1, -1, false, 2);
  EXPECT_EQ(patience.spin_ns, 100'000u);
  EXPECT_EQ(patience.spin_ns + patience.yield_ns, 1'000'000u);
}

TEST(PatienceTest, gives_a_shared_core_away_at_once_and_for_longer_where_more_share_it) {
  constexpr Patience patience = Patience::of(-1, -1, true, 16);
  EXPECT_EQ(patience.spin_ns, 0u);
  EXPECT_EQ(patience.yield_ns, 1'300'000u);
}

TEST(PatienceTest, takes_what_parameters_say_zero_included) {
  for (const bool shares_core : {false, true}) {
    const Patience none = Patience::of(0, 0, shares_core, 4), some = Patience::of(7, 9, shares_core, 4);
    EXPECT_EQ(none.spin_ns + none.yield_ns, 0u);
    EXPECT_EQ(some.spin_ns, 7'000u);
    EXPECT_EQ(some.yield_ns, 9'000u);
  }
}

}  // namespace
}  // namespace starling::mpi
