// SPDX-License-Identifier: BSD-3-Clause
// Whether a process mostly waits for a peer to look at its long messages.
#include "frameworks/pml/send_waits.hpp"

#include <gtest/gtest.h>

namespace starling::pml::test {
namespace {

TEST(SendWaits, say_what_most_waits_for_messages_of_a_size_were) {
  SendWaits waits;
  constexpr std::uint64_t kVain = 200'000, kShort = 5'000;
  for (int sends = 0; sends < 6; ++sends) {
    EXPECT_FALSE(waits.mostly(100'000));
    waits.waited(100'000, kVain);
  }
  EXPECT_TRUE(waits.mostly(100'000));
  EXPECT_FALSE(waits.mostly(1'000'000)) << "other sizes are others";
  for (int sends = 0; sends < 100; ++sends) waits.waited(100'000, kVain);
  waits.waited(100'000, kShort);
  EXPECT_FALSE(waits.mostly(100'000)) << "one short wait ends it";
  waits.waited(100'000, kVain);
  waits.waited(100'000, kVain);
  EXPECT_TRUE(waits.mostly(100'000)) << "and two long ones bring it back";
  waits.waited(100'000, kShort);
  waits.waited(100'000, kShort);
  waits.waited(100'000, kVain);
  EXPECT_FALSE(waits.mostly(100'000));
  for (int sends = 0; sends < 100; ++sends) waits.waited(4'000'000, 900'000);
  EXPECT_FALSE(waits.mostly(4'000'000)) << "as long as a copy takes is not in vain";
}

TEST(SendWaits, are_measured_for_the_first_messages_and_then_for_one_in_eight) {
  unsigned sampled = 0, again = 0;
  for (std::uint64_t number = 0; number < 16; ++number) EXPECT_TRUE(SendWaits::sampled(number));
  for (std::uint64_t number = 1'000'000; number < 1'080'000; ++number) {
    sampled += SendWaits::sampled(number);
    again += SendWaits::sampled_again(number);
    EXPECT_TRUE(SendWaits::sampled(number) || !SendWaits::sampled_again(number));
  }
  EXPECT_NEAR(sampled, 10'000, 500);
  EXPECT_NEAR(again, 2'500, 125);
  // Every second, fourth ... sixteenth message of a program is measured as often as all.
  for (const std::uint64_t stride : {2u, 4u, 8u, 16u}) {
    unsigned of_stride = 0;
    for (std::uint64_t at = 0; at < 10'000; ++at) of_stride += SendWaits::sampled(1'000 + at * stride);
    EXPECT_NEAR(of_stride, 1250, 150) << stride;
  }
}

}  // namespace
}  // namespace starling::pml::test
