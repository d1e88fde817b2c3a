// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node: numbering, and what makes an identity.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/runtime/node_identity.hpp"

namespace starling::mpi {
namespace {

std::string map_of(const std::vector<std::string>& identities) {
  auto map = number_nodes(identities);
  EXPECT_TRUE(map) << map.error().text();
  return map->text();
}

TEST(NumberNodes, nodes_count_from_the_lowest_rank) {
  EXPECT_EQ(map_of({"x"}), "(vector,(0,1,1))");
  EXPECT_EQ(map_of({"x", "x", "x"}), "(vector,(0,1,3))");
  EXPECT_EQ(map_of({"z", "z", "a"}), NodeMap({{0, 1, 2}, {1, 1, 1}}).text());
}

TEST(NumberNodes, every_rank_finds_its_node_again) {
  const std::vector<std::string> identities = {"a", "b", "a", "c", "c", "b", "a", "a", "b"};
  auto map = number_nodes(identities);
  ASSERT_TRUE(map);
  for (std::uint32_t i = 0; i < identities.size(); ++i) {
    for (std::uint32_t j = 0; j < identities.size(); ++j) {
      EXPECT_EQ(map->node_of(i) == map->node_of(j), identities[i] == identities[j]) << i << " " << j;
    }
  }
  EXPECT_EQ(map->ranks_on(map->node_of(1), 9), (std::vector<std::uint32_t>{1, 5, 8}));
}

TEST(NumberNodes, more_runs_than_a_map_can_hold_are_refused) {
  std::vector<std::string> identities;
  for (std::size_t i = 0; i <= NodeMap::kMaxBlocks; ++i) identities.push_back(i % 2 == 0 ? "a" : "b");
  const auto refused = number_nodes(identities);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
}

TEST(NodeIdentity, is_the_same_when_asked_again_and_names_the_user) {
  const std::string identity = node_identity("");
  EXPECT_EQ(identity, node_identity(""));
  EXPECT_NE(identity.find(" user-" + std::to_string(::geteuid()) + " "), std::string::npos) << identity;
  EXPECT_NE(identity.find("net-"), std::string::npos)
      << "without a named place the sockets are the meeting place";
  EXPECT_NE(node_identity("directory-1-2").find("directory-1-2"), std::string::npos);
}

}  // namespace
}  // namespace starling::mpi
