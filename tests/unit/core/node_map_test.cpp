// SPDX-License-Identifier: BSD-3-Clause
// core/node_map: reading, wrapping, asking. Layer: tests.

#include "core/node_map.hpp"

#include <gtest/gtest.h>

#include <set>

namespace starling {
namespace {

NodeMap map_of(std::string_view text) {
  auto map = NodeMap::parse(text);
  EXPECT_TRUE(map) << text << ": " << map.error().text();
  return map ? std::move(*map) : NodeMap{};
}

std::vector<std::uint32_t> nodes_of(const NodeMap& map, std::uint32_t size) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < size; ++rank) nodes.push_back(to_int(map.node_of(rank)));
  return nodes;
}

using Nodes = std::vector<std::uint32_t>;

TEST(NodeMap, empty_text_is_unknown) { EXPECT_TRUE(map_of("").unknown()); }

TEST(NodeMap, block_places_ranks_node_by_node) {
  EXPECT_EQ(nodes_of(map_of("(vector,(0,2,3))"), 6), (Nodes{0, 0, 0, 1, 1, 1}));
}

TEST(NodeMap, short_map_wraps_to_its_last_block_at_node_zero) {
  EXPECT_EQ(nodes_of(map_of("(vector,(0,2,1))"), 5), (Nodes{0, 1, 0, 1, 0}));
  EXPECT_EQ(nodes_of(map_of("(vector,(3,1,2),(0,2,1))"), 7), (Nodes{3, 3, 0, 1, 0, 1, 0}));
}

TEST(NodeMap, short_map_without_node_zero_wraps_to_its_start) {
  EXPECT_EQ(nodes_of(map_of("(vector,(4,1,1),(6,1,1))"), 5), (Nodes{4, 6, 4, 6, 4}));
}

TEST(NodeMap, bare_numbers_and_repeats) {
  EXPECT_EQ(nodes_of(map_of("(vector,0,0,1,7)"), 4), (Nodes{0, 0, 1, 7}));
  EXPECT_EQ(nodes_of(map_of("(vector,[0,1]x2,(2,1,2))"), 6), (Nodes{0, 1, 0, 1, 2, 2}));
  EXPECT_EQ(nodes_of(map_of("( vector , [ 5, (6,1,2) ] x 2 )"), 6), (Nodes{5, 6, 6, 5, 6, 6}));
}

TEST(NodeMap, merging_blocks_does_not_move_the_wrap_point) {
  // Two blocks at node 0: the wrap starts at the second, so merging them would change what rank 3 gets.
  EXPECT_EQ(nodes_of(map_of("(vector,(0,1,1),(0,1,1),(1,1,1))"), 7), (Nodes{0, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(nodes_of(map_of("(vector,(1,1,1),(1,1,1))"), 3), (Nodes{1, 1, 1}));
}

TEST(NodeMap, text_is_canonical) {
  EXPECT_EQ(map_of("(vector,0,0,1,1,2,2)").text(), "(vector,(0,3,2))");
  EXPECT_EQ(map_of("(vector,(0,1,4),(1,3,4))").text(), "(vector,(0,4,4))");
  EXPECT_EQ(map_of("(vector,(5,4,2),(9,1,1),(9,1,1))").text(), "(vector,(5,5,2))");
  EXPECT_EQ(map_of("(vector,[(0,1,2),(1,1,2)]x2)").text(), "(vector,(0,2,2),(0,2,2))");
  EXPECT_EQ(NodeMap::one_node(7).text(), "(vector,(0,1,7))");
  EXPECT_EQ(map_of("(vector,4294967295)").text(), "(vector,(4294967295,1,1))");
  EXPECT_EQ(map_of("(vector,(4294967295,1,1))").text(), "(vector,(4294967295,1,1))");
  EXPECT_EQ(map_of("(vector,(4294967294,2,1))").text(), "(vector,(4294967294,2,1))");
  EXPECT_EQ(NodeMap{}.text(), "");
}

TEST(NodeMap, gaps_in_node_ids_are_not_counted_as_nodes) {
  const NodeMap map = map_of("(vector,(0,1,2),(10,2,2),(11,1,1))");
  EXPECT_EQ(map.node_count(2), 1u);
  EXPECT_EQ(map.node_count(3), 2u);
  EXPECT_EQ(map.node_count(7), 3u);
  EXPECT_EQ(map.ranks_on(NodeId{11}, 7), (Nodes{4, 5, 6}));
  EXPECT_TRUE(map.ranks_on(NodeId{5}, 7).empty());
}

TEST(NodeMap, questions_agree_with_node_of) {
  for (const char* text : {"(vector,(0,3,2))", "(vector,(0,4,1))", "(vector,(2,1,3),(0,2,2),(9,1,1))",
                           "(vector,[0,(1,2,2)]x3,5)", "(vector,(7,1,1))"}) {
    const NodeMap map = map_of(text);
    const std::uint32_t size = 41;
    std::set<std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const NodeId node = map.node_of(rank);
      seen.insert(to_int(node));
      const Nodes ranks = map.ranks_on(node, size);
      ASSERT_LT(map.local_rank(rank), ranks.size()) << text;
      EXPECT_EQ(ranks[map.local_rank(rank)], rank) << text;
      EXPECT_EQ(map.node_count(rank + 1), seen.size()) << text;
    }
  }
}

TEST(NodeMap, a_million_ranks_cost_no_memory) {
  const NodeMap map = map_of("(vector,(0,10000,100))");
  EXPECT_EQ(map.blocks().size(), 1u);
  EXPECT_EQ(to_int(map.node_of(999'999)), 9999u);
  EXPECT_EQ(map.local_rank(999'999), 99u);
  EXPECT_EQ(map.node_count(1'000'000), 10000u);
}

TEST(NodeMap, bad_texts_are_refused_with_an_offset) {
  for (const char* text : {"(", "vector", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,0,1))",
                           "(vector,(0,1,0))", "(vector,(0,1,1)", "(vector,(0,1,1))x", "(vector,-1)",
                           "(vector,4294967296)", "(vector,[0,1]x0)", "(vector,[0,1])", "(vector,[[0]x2]x2)",
                           "(vector,[0,1]x4294967295)", "(vector,(4294967295,2,1))", "(matrix,(0,1,1))"}) {
    const auto map = NodeMap::parse(text);
    ASSERT_FALSE(map) << text;
    EXPECT_EQ(map.error().code, Errc::bad_input);
    EXPECT_NE(map.error().detail.find("byte "), std::string::npos) << map.error().text();
  }
}

}  // namespace
}  // namespace starling
