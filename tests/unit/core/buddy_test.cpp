// SPDX-License-Identifier: BSD-3-Clause
// Halves of halves, against a map of what is taken.
#include "core/buddy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace starling {
namespace {

constexpr std::size_t kBlock = 4096;

TEST(Buddy, nothing_can_be_taken_from_nothing) {
  EXPECT_FALSE(Buddy(0, kBlock).take(1));
  EXPECT_FALSE(Buddy(kBlock - 1, kBlock).take(1));
}

TEST(Buddy, one_piece_may_be_everything) {
  Buddy buddy(16 * kBlock, kBlock);
  ASSERT_EQ(buddy.take(16 * kBlock), 0u);
  EXPECT_FALSE(buddy.take(1));
  buddy.give(0);
  EXPECT_EQ(buddy.take(15 * kBlock), 0u) << "rounded up to a power of two";
}

TEST(Buddy, more_than_there_is_is_refused) {
  Buddy buddy(16 * kBlock, kBlock);
  EXPECT_FALSE(buddy.take(16 * kBlock + 1));
  EXPECT_FALSE(buddy.take(std::size_t{1} << 60));
}

TEST(Buddy, the_last_block_of_an_odd_number_can_be_used) {
  Buddy buddy(7 * kBlock, kBlock);
  std::set<std::size_t> offsets;
  for (int i = 0; i < 7; ++i) offsets.insert(buddy.take(kBlock).value());
  EXPECT_EQ(offsets.size(), 7u);
  EXPECT_EQ(*offsets.rbegin(), 6 * kBlock);
  EXPECT_FALSE(buddy.take(1));
}

TEST(Buddy, free_halves_become_one_again) {
  Buddy buddy(8 * kBlock, kBlock);
  std::vector<std::size_t> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(buddy.take(1).value());
  for (const int i : {3, 0, 7, 1, 6, 2, 5, 4}) buddy.give(taken[static_cast<std::size_t>(i)]);
  EXPECT_EQ(buddy.take(8 * kBlock), 0u);
}

TEST(Buddy, what_was_given_back_last_is_taken_first) {
  Buddy buddy(8 * kBlock, kBlock);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(buddy.take(1));
  buddy.give(0);
  buddy.give(2 * kBlock);
  EXPECT_EQ(buddy.take(1), 2 * kBlock);
  EXPECT_EQ(buddy.take(1), 0u);
}

/// No two pieces overlap, each is as long as asked for, and when all are back everything is free.
TEST(Buddy, random_pieces_never_overlap) {
  constexpr std::size_t kBytes = 300 * kBlock;
  Buddy buddy(kBytes, kBlock);
  std::map<std::size_t, std::size_t> taken;
  std::mt19937 random(7);
  for (int step = 0; step < 200'000; ++step) {
    if (random() % 2 == 0 || taken.empty()) {
      const std::size_t bytes = 1 + random() % (std::size_t{1} << (random() % 18));
      const auto offset = buddy.take(bytes);
      if (!offset) continue;
      ASSERT_LE(*offset + bytes, kBytes);
      ASSERT_EQ(*offset % kBlock, 0u);
      const auto next = taken.lower_bound(*offset);
      ASSERT_TRUE(next == taken.end() || *offset + bytes <= next->first);
      ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *offset);
      taken.emplace(*offset, bytes);
    } else {
      auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      buddy.give(victim->first);
      taken.erase(victim);
    }
  }
  for (const auto& [offset, bytes] : taken) buddy.give(offset);
  EXPECT_EQ(buddy.take(256 * kBlock), 0u);
}

}  // namespace
}  // namespace starling
