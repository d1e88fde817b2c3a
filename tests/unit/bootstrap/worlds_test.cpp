// SPDX-License-Identifier: BSD-3-Clause
// What the process manager of this process knows is about its own world only. Layer: tests.

#include <gtest/gtest.h>

#include "frameworks/bootstrap/card_client.hpp"
#include "frameworks/bootstrap/exchanges.hpp"
#include "frameworks/bootstrap/roots.hpp"
#include "tests/conformance/bootstrap/job.hpp"
#include "tests/unit/core/procs.hpp"

namespace starling::bootstrap::test {
namespace {

using starling::test::procs;

TEST(OtherWorlds, as_many_processes_are_not_the_world) {
  Exchanges exchanges(3);
  exchanges.completed(procs({{0, 0}, {0, 1}, {5, 0}}));
  EXPECT_FALSE(exchanges.covers_world());
  EXPECT_TRUE(exchanges.covers(*procs({{5, 0}, {0, 1}})));
  EXPECT_FALSE(exchanges.covers(*procs({{0, 1}, {0, 2}})));
  exchanges.completed(procs({{0, 2}, {0, 0}, {0, 1}}));
  EXPECT_TRUE(exchanges.covers_world());
}

TEST(OtherWorlds, fence_of_the_own_world_covers_none_of_another) {
  Exchanges exchanges(3);
  exchanges.completed_world();
  EXPECT_TRUE(exchanges.covers(*procs({{0, 0}, {0, 2}})));
  EXPECT_FALSE(exchanges.covers(*procs({{0, 0}, {5, 2}})));
  exchanges.completed(procs({{0, 0}, {5, 2}}));
  EXPECT_TRUE(exchanges.covers(*procs({{0, 0}, {5, 2}})));
  EXPECT_TRUE(exchanges.covers(*procs({{0, 0}, {0, 1}})));
}

TEST(OtherWorlds, card_of_an_equal_rank_is_not_given_for_theirs) {
  Job job(2, {.get_without_fence = true});
  std::unique_lock<std::mutex>* const no_lock = nullptr;  // nobody waits for a fence
  Client ours(job, 1, no_lock);
  const std::vector<std::byte> card(4, std::byte{7});
  ASSERT_TRUE(ours.put("starling-card", card));
  Client client(job, 0, no_lock);
  CardClient cards(client, 1);
  ASSERT_TRUE(cards.card({0, 1}));
  const auto theirs = cards.card({5, 1});
  ASSERT_FALSE(theirs);
  EXPECT_EQ(theirs.error().code, Errc::unreachable);
}

TEST(OtherWorlds, rank_of_another_world_is_on_no_node_of_this_one) {
  const NodeMap nodes({{0, 2, 2}});
  EXPECT_TRUE(on_one_node(&nodes, {0, 1}, {0, 0}));
  EXPECT_FALSE(on_one_node(&nodes, {0, 2}, {0, 0}));
  EXPECT_FALSE(on_one_node(&nodes, {5, 1}, {0, 0}));
  EXPECT_FALSE(on_one_node(nullptr, {5, 1}, {0, 0}));
}

}  // namespace
}  // namespace starling::bootstrap::test
