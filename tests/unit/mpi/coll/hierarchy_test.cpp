// SPDX-License-Identifier: BSD-3-Clause
// The members of a communicator by node.

#include "mpi/coll/hierarchy.hpp"

#include <gtest/gtest.h>

namespace {

using namespace starling::mpi::coll;
using Ranks = std::vector<int>;

Hierarchy of(std::vector<std::uint32_t> node_of) { return Hierarchy(node_of); }

TEST(Hierarchy, numbers_nodes_by_their_lowest_rank) {
  const Hierarchy nodes = of({9, 4, 9, 4, 7});
  ASSERT_EQ(nodes.nodes(), 3);
  EXPECT_EQ(nodes.members(0), (Ranks{0, 2}));
  EXPECT_EQ(nodes.members(1), (Ranks{1, 3}));
  EXPECT_EQ(nodes.members(2), (Ranks{4}));
  EXPECT_EQ(nodes.node_of(3), 1);
  EXPECT_EQ(nodes.place_of(3), 1);
}

TEST(Hierarchy, is_ordered_if_nodes_follow_each_other) {
  EXPECT_TRUE(of({5, 5, 2, 2, 2}).ordered());
  EXPECT_FALSE(of({5, 2, 5}).ordered());
}

TEST(Hierarchy, is_of_use_with_several_nodes_of_which_one_has_several_members) {
  EXPECT_FALSE(of({1, 1, 1}).useful());
  EXPECT_FALSE(of({1, 2, 3}).useful());
  EXPECT_TRUE(of({1, 2, 2}).useful());
}

TEST(Levels, another_member_speaks_on_each_node_in_turn) {
  const Hierarchy nodes = of({0, 0, 1, 1, 1});
  const Levels first(nodes, 2), second(nodes, 3);
  EXPECT_FALSE(first.speaks());
  EXPECT_TRUE(second.speaks());
  EXPECT_EQ(first.speakers, (Ranks{0, 3}));
  EXPECT_EQ(Levels(of({0, 0, 1, 1, 2, 2, 3, 4, 4, 4}), 0).speakers, (Ranks{0, 3, 4, 6, 8}));
  EXPECT_EQ(second.local.rank, 1);
  EXPECT_EQ(second.local.size, 3);
  EXPECT_EQ(second.across.rank, 1);
  EXPECT_EQ(second.across.size, 2);
}

TEST(Levels, a_root_speaks_for_its_node) {
  const Hierarchy nodes = of({0, 0, 1, 1, 1});
  const Levels root(nodes, 4, 4), local_peer(nodes, 2, 4), elsewhere(nodes, 0, 4);
  EXPECT_TRUE(root.speaks());
  EXPECT_FALSE(local_peer.speaks());
  EXPECT_TRUE(elsewhere.speaks());
  EXPECT_EQ(elsewhere.speakers, (Ranks{0, 4}));
  EXPECT_EQ(elsewhere.root_node, 1);
  EXPECT_EQ(local_peer.head, 2);
}

}  // namespace
