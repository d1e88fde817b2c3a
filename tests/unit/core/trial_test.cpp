// SPDX-License-Identifier: BSD-3-Clause
// Whether a trial's choice follows what the options have cost.

#include <gtest/gtest.h>

#include <functional>

#include "core/trial.hpp"

namespace starling::test {
namespace {

constexpr TrialPace kPace{.settling = 3, .holding = 100};

/// Does it until a trial has ended; how often.
template <unsigned kOptions, unsigned kTurns>
unsigned run(Trial<kOptions, kTurns>& trial, const std::function<std::uint64_t(unsigned option)>& cost) {
  for (unsigned done = 1; done <= 1000; ++done) {
    if (trial.took(cost(trial.option()))) return done;
  }
  ADD_FAILURE() << "no trial has ended";
  return 0;
}

TEST(Trial, the_cheapest_way_is_chosen_after_each_has_had_its_turn) {
  for (unsigned cheapest = 0; cheapest < 3; ++cheapest) {
    Trial<3> trial(kPace);
    EXPECT_EQ(trial.option(), 0u);
    EXPECT_TRUE(trial.trying());
    const auto cost = [&](unsigned option) { return option == cheapest ? 10u : 20u + option; };
    EXPECT_EQ(run(trial, cost), 3 * (kPace.settling + Trial<3>::kCounting));
    EXPECT_EQ(trial.option(), cheapest);
    EXPECT_FALSE(trial.trying());
    EXPECT_EQ(trial.cost(cheapest), 10u);
    EXPECT_EQ(trial.cost((cheapest + 1) % 3), 20u + (cheapest + 1) % 3);
  }
}

TEST(Trial, the_first_way_stays_where_none_is_an_eighth_cheaper) {
  Trial<2> trial(kPace);
  run(trial, [](unsigned option) { return option == 0 ? 800u : 700u; });
  EXPECT_EQ(trial.option(), 0u);
  Trial<2> other(kPace);
  run(other, [](unsigned option) { return option == 0 ? 800u : 699u; });
  EXPECT_EQ(other.option(), 1u);
}

TEST(Trial, pauses_bursts_and_the_time_after_a_change_do_not_count) {
  Trial<2> trial(kPace);
  unsigned before = 0, since_change = 0;
  run(trial, [&](unsigned option) -> std::uint64_t {
    since_change = option == before ? since_change + 1 : 1;
    before = option;
    if (since_change <= kPace.settling) return option == 0 ? 1'000'000 : 1;  // left by the other
    if (since_change % 2 == 0) return 50'000'000;                            // the program computed meanwhile
    if (since_change % 6 == 1) return option == 0 ? 1000 : 900;              // all of it was there already
    return option == 0 ? 4000 : 5000;
  });
  EXPECT_EQ(trial.option(), 0u);
  EXPECT_EQ(trial.cost(0), 4000u);
  EXPECT_EQ(trial.cost(1), 5000u);
}

TEST(Trial, options_that_take_turns_share_what_the_work_becomes) {
  Trial<2, 4> trial(kPace);
  unsigned done = 0, changes = 0, before = 0;
  EXPECT_EQ(run(trial,
                [&](unsigned option) -> std::uint64_t {
                  changes += option != before;
                  before = option;
                  return ++done <= 20 ? 1000 + option
                                      : 100 + option;  // the work becomes shorter in the middle
                }),
            2 * 4 * (kPace.settling + 2));
  EXPECT_EQ(changes, 7u);
  EXPECT_EQ(trial.option(), 0u);
  EXPECT_EQ(trial.cost(0), 100u);
  EXPECT_EQ(trial.cost(1), 101u);
}

TEST(Trial, a_choice_holds_and_is_then_tried_again) {
  Trial<2> trial(kPace);
  run(trial, [](unsigned option) { return option == 1 ? 1u : 2u; });
  ASSERT_EQ(trial.option(), 1u);
  for (unsigned done = 1; done < kPace.holding; ++done) {
    ASSERT_FALSE(trial.took(1'000'000));
    ASSERT_EQ(trial.option(), 1u) << "costs count in a trial only";
  }
  EXPECT_FALSE(trial.took(1));
  EXPECT_TRUE(trial.trying());
  EXPECT_EQ(trial.option(), 0u);
  run(trial, [](unsigned option) { return option == 1 ? 2u : 1u; });
  EXPECT_EQ(trial.option(), 0u) << "the machine has changed, the choice has not";
}

}  // namespace
}  // namespace starling::test
