// SPDX-License-Identifier: BSD-3-Clause
/// @file  Families by rank and by parts of the machine.

#include "mpi/coll/node/family_plan.hpp"

#include <gtest/gtest.h>

namespace starling::mpi::coll::node {
namespace {

using Heads = std::vector<std::uint32_t>;

/// `counts[i]` members in domain i of the first level, all in one of the others.
std::vector<Domains> in_runs(const std::vector<std::uint32_t>& counts) {
  std::vector<Domains> members;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    members.insert(members.end(), counts[i], {static_cast<std::int32_t>(i), 0, 0});
  }
  return members;
}

void expect_whole(const FamilyPlan& plan, std::uint32_t size) {
  ASSERT_EQ(plan.size(), size);
  std::uint32_t next = 0;
  for (const std::uint32_t head : plan.heads()) {
    ASSERT_EQ(head, next);
    next = plan.end_of(head);
    ASSERT_GT(next, head);
    ASSERT_LE(next - head, FamilyPlan::kFamily);
    for (std::uint32_t member = head; member < next; ++member) {
      EXPECT_EQ(plan.head_of(member), head);
      EXPECT_EQ(plan.end_of(member), next);
    }
  }
  EXPECT_EQ(next, size);
}

TEST(FamilyPlan, by_rank_eight_neighbours_each) {
  for (const std::uint32_t size : {1u, 2u, 7u, 8u, 9u, 16u, 17u, 255u, 256u}) {
    const FamilyPlan plan(size);
    expect_whole(plan, size);
    EXPECT_EQ(plan.heads().size(), (size + 7) / 8);
  }
}

TEST(FamilyPlan, larger_families_if_asked_for) {
  EXPECT_EQ(FamilyPlan(63, FamilyPlan::kCrowdedFamily).heads(), (Heads{0}));
  EXPECT_TRUE(FamilyPlan(64, FamilyPlan::kCrowdedFamily).flat());
  EXPECT_EQ(FamilyPlan(130, FamilyPlan::kCrowdedFamily).heads(), (Heads{0, 64, 128}));
  EXPECT_FALSE(FamilyPlan(65, FamilyPlan::kCrowdedFamily).flat());
}

TEST(FamilyPlan, everybody_reads_everybody_in_one_family) {
  EXPECT_TRUE(FamilyPlan(8).flat());
  EXPECT_FALSE(FamilyPlan(9).flat());
}

TEST(FamilyPlan, families_do_not_cross_a_border) {
  EXPECT_EQ(FamilyPlan(in_runs({6, 6})).heads(), (Heads{0, 6}));
  EXPECT_EQ(FamilyPlan(in_runs({4, 4, 4, 4})).heads(), (Heads{0, 4, 8, 12}));
  EXPECT_EQ(FamilyPlan(in_runs({3, 9})).heads(), (Heads{0, 3, 7}));  // 9 are two families, even in size
  EXPECT_EQ(FamilyPlan(in_runs({20, 1})).heads(), (Heads{0, 6, 13, 20}));
  for (std::uint32_t first = 1; first < 60; first += 7) {
    expect_whole(FamilyPlan(in_runs({first, 61 - first, 13})), 74);
  }
}

TEST(FamilyPlan, borders_count_for_families_of_any_size) {
  EXPECT_EQ(FamilyPlan(in_runs({20, 20}), 64).heads(), (Heads{0, 20}));
  EXPECT_EQ(FamilyPlan(in_runs({20, 20}), 4).heads().size(), 10u);
}

TEST(FamilyPlan, a_domain_may_come_again) {
  std::vector<Domains> members = in_runs({5, 5, 5});
  for (std::size_t i = 10; i < 15; ++i) members[i][0] = 0;
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 5, 10}));
}

TEST(FamilyPlan, the_best_level_that_tells_members_apart) {
  std::vector<Domains> members(12, Domains{0, 3, 0});  // one L3
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 8}));
  for (std::size_t i = 5; i < 12; ++i) members[i][1] = 4;
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 5}));
  for (std::size_t i = 7; i < 12; ++i) members[i][0] = 1;
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 7}));
  members[3][0] = -1;  // not bound to one L3
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 5}));
}

TEST(FamilyPlan, by_rank_where_places_are_unknown_or_alternate) {
  std::vector<Domains> members(16, Domains{-1, -1, -1});
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 8}));
  for (std::size_t i = 0; i < 16; ++i) {
    const auto place = static_cast<std::int32_t>(i % 2);
    members[i] = {place, place, place};
  }
  EXPECT_EQ(FamilyPlan(members).heads(), (Heads{0, 8}));
}

}  // namespace
}  // namespace starling::mpi::coll::node
