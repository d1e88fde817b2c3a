// SPDX-License-Identifier: BSD-3-Clause
// Keys of creations: equal where members must agree, different where creations must not mix.

#include "frameworks/bootstrap/group_key.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/bootstrap/lists.hpp"
#include "tests/unit/core/procs.hpp"

namespace starling::bootstrap {
namespace {

using starling::test::procs;
using test::list;

Key key_of(const ProcList& members, std::string_view tag) { return group_key(Worlds(), members, tag); }
std::uint64_t its_order(const ProcList& members) { return order_of(Worlds(), members); }

/// Two jobs that have met, each as its own processes see them: the other's index differs.
struct Meeting {
  static World world(const char* job, std::uint64_t nonce = 0) { return {{"pmi1", job, nonce}, 4, {}}; }
  Meeting(const World& left, const World& right) : lefts(left), rights(right) {
    (void)rights.add(world("met before"));
    rights_index = *lefts.add(right);
    lefts_index = *rights.add(left);
  }
  Worlds lefts, rights;
  std::uint32_t lefts_index = 0, rights_index = 0;  // what the other side calls them
};

TEST(GroupKey, is_the_same_for_every_order_of_the_members) {
  EXPECT_EQ(key_of(*list({0, 3, 5, 9}), "tag"), key_of(*list({9, 0, 5, 3}), "tag"));
}

TEST(GroupKey, of_consecutive_ranks_is_that_of_a_list_of_them) {
  for (const std::uint32_t size : {1u, 2u, 7u}) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 3 + size; rank-- > 3;) ranks.push_back(rank);
    EXPECT_EQ(key_of(*test::run(3, size), "tag"), key_of(*list(ranks), "tag"));
  }
  EXPECT_NE(key_of(*test::run(3, 4), "tag"), key_of(*test::run(4, 4), "tag"));
}

TEST(GroupKey, differs_by_members_and_by_tag) {
  const Key key = key_of(*list({0, 1}), "tag");
  EXPECT_NE(key, key_of(*list({0, 2}), "tag"));
  EXPECT_NE(key, key_of(*list({0, 1, 2}), "tag"));
  EXPECT_NE(key, key_of(*list({0, 1}), "tag2"));
  EXPECT_NE(key, key_of(*list({0, 1}), ""));
}

TEST(GroupKey, of_all_pairs_of_a_thousand_processes_are_distinct) {
  std::set<Key> keys;
  for (std::uint32_t a = 0; a < 1000; a += 7) {
    for (std::uint32_t b = a + 1; b < 1000; b += 3) keys.insert(key_of(*list({a, b}), "x"));
  }
  std::size_t pairs = 0;
  for (std::uint32_t a = 0; a < 1000; a += 7) {
    for (std::uint32_t b = a + 1; b < 1000; b += 3) ++pairs;
  }
  EXPECT_EQ(keys.size(), pairs);
}

TEST(Order, differs_for_other_orders_of_the_same_members) {
  EXPECT_EQ(its_order(*list({0, 3, 5})), its_order(*list({0, 3, 5})));
  EXPECT_NE(its_order(*list({0, 3, 5})), its_order(*list({3, 0, 5})));
  EXPECT_NE(its_order(*list({0, 1, 2})), its_order(*list({0, 2, 1})));
}

TEST(Order, of_consecutive_ranks_is_that_of_an_ascending_list_of_them) {
  EXPECT_EQ(its_order(*test::run(3, 4)), its_order(*list({3, 4, 5, 6})));
  EXPECT_NE(its_order(*test::run(3, 4)), its_order(*list({6, 5, 4, 3})));
}

TEST(GroupKey, of_two_jobs_with_the_same_ranks_are_two) {
  // Each is world 0 to itself, makes its world's communicator first, and its messages reach the other.
  const Meeting met(Meeting::world("kvs_1"), Meeting::world("kvs_2"));
  EXPECT_NE(group_key(met.lefts, *list({0, 1}), "world"), group_key(met.rights, *list({0, 1}), "world"));
  const Meeting of_one_name(Meeting::world("1234.0", 1), Meeting::world("1234.0", 2));
  EXPECT_NE(group_key(of_one_name.lefts, *list({0, 3}), "t"),
            group_key(of_one_name.rights, *list({0, 3}), "t"));
}

TEST(GroupKey, of_members_of_both_jobs_is_one_on_both_sides) {
  for (const auto& [left, right] : {std::pair("kvs_1", "kvs_2"), std::pair("kvs_2", "kvs_1")}) {
    const Meeting met(Meeting::world(left), Meeting::world(right));
    ASSERT_NE(met.lefts_index, met.rights_index);
    const std::uint32_t its = met.rights_index, mine = met.lefts_index;
    const auto as_left = procs({{0, 0}, {0, 1}, {its, 0}, {its, 2}});
    const auto as_right = procs({{mine, 0}, {mine, 1}, {0, 0}, {0, 2}});
    EXPECT_EQ(group_key(met.lefts, *as_left, "both"), group_key(met.rights, *as_right, "both"));
    EXPECT_EQ(order_of(met.lefts, *as_left), order_of(met.rights, *as_right));
    const auto other_way_round = procs({{0, 0}, {0, 2}, {mine, 0}, {mine, 1}});
    EXPECT_EQ(group_key(met.lefts, *as_left, "both"), group_key(met.rights, *other_way_round, "both"));
    EXPECT_NE(order_of(met.lefts, *as_left), order_of(met.rights, *other_way_round));
    // The same ranks, each of the other world.
    const auto swapped = procs({{its, 0}, {its, 1}, {0, 0}, {0, 2}});
    EXPECT_NE(group_key(met.lefts, *as_left, "both"), group_key(met.lefts, *swapped, "both"));
  }
}

TEST(GroupKeyDeathTest, wants_worlds_that_are_known) {
  EXPECT_DEATH((void)group_key(Worlds(), *procs({{0, 0}, {7, 0}}), "t"), "a world that is not known");
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
