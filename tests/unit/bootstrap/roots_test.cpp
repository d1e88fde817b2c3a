// SPDX-License-Identifier: BSD-3-Clause
// Trees of a group: one way to the leader from everywhere, and short cuts that give what walking gives.

#include "frameworks/bootstrap/roots.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/conformance/bootstrap/lists.hpp"

namespace starling::bootstrap {
namespace {

/// Ranks 0..3 on node 5, 4..7 on node 6 and so on.
NodeMap blocks_of_four() { return NodeMap({{5, 40, 4}}); }

std::vector<std::uint32_t> some_ranks() {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 1; rank < 90; rank += rank % 5 == 0 ? 3 : 1) ranks.push_back(rank);
  return ranks;
}

TEST(Roots, every_member_has_one_way_to_the_leader) {
  const NodeMap nodes = blocks_of_four();
  const std::vector<std::uint32_t> ranks = some_ranks();
  const ProcListPtr members = test::list(ranks);
  std::size_t leaders = 0, children = 0;
  std::vector<std::uint32_t> roots;
  for (const std::uint32_t rank : ranks) {
    const RootsPlace place = place_among_roots(members, {0, rank}, &nodes, 4);
    leaders += place.parent ? 0 : 1;
    children += place.node_children.size() + place.root_children.size();
    EXPECT_LE(place.root_children.size(), 4u);
    if (place.root) roots.push_back(rank);
    if (!place.root) {
      EXPECT_EQ(nodes.node_of(place.parent->rank), nodes.node_of(rank));
      EXPECT_TRUE(place.node_children.empty() && place.root_children.empty());
    }
    for (const auto& below : {place.node_children, place.root_children}) {
      for (const ProcId child : below) {
        EXPECT_EQ(place_among_roots(members, child, &nodes, 4).parent, (ProcId{0, rank}));
      }
    }
  }
  EXPECT_EQ(leaders, 1u);
  EXPECT_EQ(children, ranks.size() - 1);
  EXPECT_EQ(ranks_of_roots(members, &nodes), roots);
  EXPECT_EQ(place_among_roots(members, {0, 1}, &nodes, 4).nodes, roots.size());
}

TEST(Tree, every_member_has_few_neighbours_and_only_roots_cross_nodes) {
  const NodeMap nodes = blocks_of_four();
  const std::vector<std::uint32_t> ranks = some_ranks();
  const ProcListPtr members = test::list(ranks);
  std::size_t leaders = 0, children = 0, between_nodes = 0;
  for (const std::uint32_t rank : ranks) {
    const TreePlace place = place_in_tree(members, {0, rank}, &nodes, 2);
    leaders += place.parent ? 0 : 1;
    children += place.children.size();
    EXPECT_LE(place.children.size(), 4u);  // 2 on the node, 2 roots
    for (const ProcId child : place.children) {
      EXPECT_EQ(place_in_tree(members, child, &nodes, 2).parent, (ProcId{0, rank}));
      between_nodes += nodes.node_of(child.rank) == nodes.node_of(rank) ? 0 : 1;
    }
  }
  EXPECT_EQ(leaders, 1u);
  EXPECT_EQ(children, ranks.size() - 1);
  EXPECT_EQ(between_nodes, ranks_of_roots(members, &nodes).size() - 1);
}

void expect_alike(const NodeMap* nodes, std::uint32_t first, std::uint32_t size) {
  const ProcListPtr run = test::run(first, size);
  std::vector<std::uint32_t> ranks(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = first + i;
  const ProcListPtr walked = test::list(ranks);
  EXPECT_EQ(ranks_of_roots(run, nodes), ranks_of_roots(walked, nodes));
  for (const std::uint32_t rank : ranks) {
    const RootsPlace a = place_among_roots(run, {0, rank}, nodes, 3);
    const RootsPlace b = place_among_roots(walked, {0, rank}, nodes, 3);
    EXPECT_EQ(a.root, b.root);
    EXPECT_EQ(a.parent, b.parent);
    EXPECT_EQ(a.node_children, b.node_children);
    EXPECT_EQ(a.root_children, b.root_children);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(place_in_tree(run, {0, rank}, nodes, 3).children,
              place_in_tree(walked, {0, rank}, nodes, 3).children);
  }
}

TEST(Roots, consecutive_ranks_in_equal_blocks_are_placed_without_walking) {
  const NodeMap blocks({{0, 12, 5}});
  for (const std::uint32_t first : {0u, 3u, 5u, 14u}) {
    for (const std::uint32_t size : {1u, 2u, 5u, 11u, 46u}) expect_alike(&blocks, first, size);
  }
  expect_alike(nullptr, 0, 9);
  expect_alike(nullptr, 4, 9);
}

TEST(Roots, maps_that_wrap_or_have_several_blocks_are_walked) {
  const NodeMap cyclic({{0, 4, 1}}), uneven({{0, 2, 4}, {2, 3, 3}});
  expect_alike(&cyclic, 0, 22);
  expect_alike(&uneven, 1, 16);
}

}  // namespace
}  // namespace starling::bootstrap
