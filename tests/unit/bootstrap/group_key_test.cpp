// SPDX-License-Identifier: BSD-3-Clause
// Keys of creations: equal where members must agree, different where creations must not mix.

#include "frameworks/bootstrap/group_key.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/bootstrap/lists.hpp"

namespace starling::bootstrap {
namespace {

using test::list;

TEST(GroupKey, is_the_same_for_every_order_of_the_members) {
  EXPECT_EQ(group_key(*list({0, 3, 5, 9}), "tag"), group_key(*list({9, 0, 5, 3}), "tag"));
}

TEST(GroupKey, of_consecutive_ranks_is_that_of_a_list_of_them) {
  for (const std::uint32_t size : {1u, 2u, 7u}) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 3 + size; rank-- > 3;) ranks.push_back(rank);
    EXPECT_EQ(group_key(*test::run(3, size), "tag"), group_key(*list(ranks), "tag"));
  }
  EXPECT_NE(group_key(*test::run(3, 4), "tag"), group_key(*test::run(4, 4), "tag"));
}

TEST(GroupKey, differs_by_members_and_by_tag) {
  const Key key = group_key(*list({0, 1}), "tag");
  EXPECT_NE(key, group_key(*list({0, 2}), "tag"));
  EXPECT_NE(key, group_key(*list({0, 1, 2}), "tag"));
  EXPECT_NE(key, group_key(*list({0, 1}), "tag2"));
  EXPECT_NE(key, group_key(*list({0, 1}), ""));
}

TEST(GroupKey, of_all_pairs_of_a_thousand_processes_are_distinct) {
  std::set<Key> keys;
  for (std::uint32_t a = 0; a < 1000; a += 7) {
    for (std::uint32_t b = a + 1; b < 1000; b += 3) keys.insert(group_key(*list({a, b}), "x"));
  }
  std::size_t pairs = 0;
  for (std::uint32_t a = 0; a < 1000; a += 7) {
    for (std::uint32_t b = a + 1; b < 1000; b += 3) ++pairs;
  }
  EXPECT_EQ(keys.size(), pairs);
}

TEST(Order, differs_for_other_orders_of_the_same_members) {
  EXPECT_EQ(order_of(*list({0, 3, 5})), order_of(*list({0, 3, 5})));
  EXPECT_NE(order_of(*list({0, 3, 5})), order_of(*list({3, 0, 5})));
  EXPECT_NE(order_of(*list({0, 1, 2})), order_of(*list({0, 2, 1})));
}

TEST(Order, of_consecutive_ranks_is_that_of_an_ascending_list_of_them) {
  EXPECT_EQ(order_of(*test::run(3, 4)), order_of(*list({3, 4, 5, 6})));
  EXPECT_NE(order_of(*test::run(3, 4)), order_of(*list({6, 5, 4, 3})));
}

TEST(Sorted, gives_positions_in_ascending_order) {
  const Sorted sorted(list({8, 2, 5}));
  EXPECT_EQ(sorted.size(), 3u);
  EXPECT_EQ(sorted.at(0).rank, 2u);
  EXPECT_EQ(sorted.at(2).rank, 8u);
  EXPECT_EQ(sorted.position(ProcId{0, 5}), 1u);
  const Sorted ascending(list({1, 4, 6}));
  EXPECT_EQ(ascending.position(ProcId{0, 6}), 2u);
}

}  // namespace
}  // namespace starling::bootstrap
