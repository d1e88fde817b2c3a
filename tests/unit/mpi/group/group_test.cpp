// SPDX-License-Identifier: BSD-3-Clause
// Groups against a naive model: vectors of processes.
#include "mpi/group/algebra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace starling::mpi {
namespace {

using Procs = std::vector<ProcId>;

Procs members(const ProcList& list) {
  Procs procs;
  for (std::uint32_t i = 0; i < list.size(); ++i) procs.push_back(list.at(i));
  return procs;
}

/// Random distinct processes of two worlds, or a strided list every third time.
ProcListPtr draw(std::mt19937& random, std::uint32_t limit) {
  if (random() % 3 == 0) {
    const auto stride = static_cast<std::int64_t>(random() % 3) + 1;
    return make_strided({0, static_cast<std::uint32_t>(random() % 5)}, stride,
                        static_cast<std::uint32_t>(random() % (limit / 4)));
  }
  Procs all;
  for (std::uint32_t rank = 0; rank < limit; ++rank)
    all.push_back({static_cast<std::uint32_t>(rank % 7 == 0), rank});
  std::shuffle(all.begin(), all.end(), random);
  all.resize(random() % limit);
  return make_list(all);
}

bool has(const Procs& procs, ProcId proc) {
  return std::find(procs.begin(), procs.end(), proc) != procs.end();
}

TEST(Group, find_is_the_reverse_of_at) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const ProcListPtr list = draw(random, 60);
    for (std::uint32_t i = 0; i < list->size(); ++i) EXPECT_EQ(list->find(list->at(i)), i);
    EXPECT_EQ(list->find({0, 1000}), std::nullopt);
    EXPECT_EQ(list->find({5, 1}), std::nullopt);
  }
}

TEST(Group, set_operations_match_the_model_in_members_and_order) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const ProcListPtr a = draw(random, 40), b = draw(random, 40);
    const Procs left = members(*a), right = members(*b);
    Procs both, all = left, rest;
    for (ProcId proc : left) (has(right, proc) ? both : rest).push_back(proc);
    for (ProcId proc : right) {
      if (!has(left, proc)) all.push_back(proc);
    }
    EXPECT_EQ(members(*union_of(a, b)), all);
    EXPECT_EQ(members(*intersection_of(a, b)), both);
    EXPECT_EQ(members(*difference_of(a, b)), rest);
    EXPECT_EQ(includes(*a, *b), both.size() == right.size());
    EXPECT_TRUE(includes(*a, *make_list(both)));
    EXPECT_TRUE(includes(*make_list(all), *b));
  }
}

TEST(Group, comparison_matches_the_model) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const ProcListPtr a = draw(random, 30);
    Procs shuffled = members(*a);
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const bool same = shuffled == members(*a);
    EXPECT_EQ(compare(*a, *make_list(shuffled)), same ? Likeness::identical : Likeness::similar);
    EXPECT_EQ(compare(*a, *make_list(members(*a))), Likeness::identical);
    if (shuffled.empty()) continue;
    shuffled.back() = {9, 9};
    EXPECT_EQ(compare(*a, *make_list(shuffled)), Likeness::unequal);
    shuffled.pop_back();
    EXPECT_EQ(compare(*a, *make_list(shuffled)), Likeness::unequal);
  }
}

TEST(Group, include_and_exclude_match_the_model) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const ProcListPtr group = draw(random, 40);
    std::vector<int> ranks(group->size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
    std::shuffle(ranks.begin(), ranks.end(), random);
    if (!ranks.empty()) ranks.resize(random() % ranks.size());
    Procs in, out;
    for (int rank : ranks) in.push_back(group->at(static_cast<std::uint32_t>(rank)));
    for (ProcId proc : members(*group)) {
      if (!has(in, proc)) out.push_back(proc);
    }
    EXPECT_EQ(members(**include(group, ranks)), in);
    EXPECT_EQ(members(**exclude(group, ranks)), out);
  }
}

TEST(Group, ranges_match_the_lists_that_they_stand_for) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const ProcListPtr group = draw(random, 40);
    const int size = static_cast<int>(group->size());
    if (size == 0) continue;
    std::vector<RankRange> ranges(random() % 3);
    std::vector<int> ranks;
    for (RankRange& range : ranges) {
      range.first = static_cast<int>(random() % static_cast<unsigned>(size));
      range.last = static_cast<int>(random() % static_cast<unsigned>(size));
      const int stride = static_cast<int>(random() % 3) + 1;
      range.stride = range.last < range.first ? -stride : stride;
      for (int r = range.first; range.stride > 0 ? r <= range.last : r >= range.last; r += range.stride)
        ranks.push_back(r);
    }
    const auto want = include(group, ranks);
    const auto got = include_ranges(group, ranges);
    const auto want_out = exclude(group, ranks);
    const auto got_out = exclude_ranges(group, ranges);
    ASSERT_EQ(want.has_value(), got.has_value());
    ASSERT_EQ(want.has_value(), got_out.has_value());
    if (!want) continue;
    EXPECT_EQ(members(**got), members(**want));
    EXPECT_EQ(members(**got_out), members(**want_out));
  }
}

TEST(Group, wrong_ranks_and_ranges_are_refused_by_name) {
  const ProcListPtr group = make_strided({0, 0}, 1, 4);
  const int outside[] = {0, 4};
  EXPECT_EQ(include(group, outside).error().detail, "ranks[1] is 4, expected 0..3");
  const int twice[] = {2, 2};
  EXPECT_EQ(include(group, twice).error().detail, "rank 2 is given twice");
  EXPECT_FALSE(exclude(group, twice));
  const RankRange still[] = {{0, 3, 0}};
  EXPECT_EQ(include_ranges(group, still).error().detail, "ranges[0] has stride 0");
  const RankRange away[] = {{0, 3, -1}};
  EXPECT_FALSE(include_ranges(group, away));
  const RankRange beyond[] = {{0, 5, 1}};
  EXPECT_FALSE(include_ranges(group, beyond));
  const RankRange overlap[] = {{0, 2, 1}, {2, 3, 1}};
  EXPECT_FALSE(include_ranges(group, overlap));
  EXPECT_FALSE(include(empty_list(), outside));
}

TEST(Group, a_regular_list_becomes_strided) {
  EXPECT_TRUE(strided_form(*make_list({{0, 3}, {0, 5}, {0, 7}})));
  EXPECT_TRUE(strided_form(*make_list({{0, 7}, {0, 4}, {0, 1}})));
  EXPECT_FALSE(strided_form(*make_list({{0, 3}, {0, 5}, {0, 8}})));
  EXPECT_FALSE(strided_form(*make_list({{0, 3}, {1, 5}})));
  EXPECT_EQ(make_list({{0, 7}, {0, 4}, {0, 1}})->find({0, 4}), 1u);
}

TEST(Group, a_large_world_and_its_regular_parts_stay_strided) {
  const ProcListPtr world = make_strided({0, 0}, 1, 1'000'000);
  const RankRange odd[] = {{1, 999'999, 2}};
  const RankRange backwards[] = {{999'999, 0, -1}};
  const RankRange head[] = {{0, 9, 1}};
  const RankRange tail[] = {{999'999, 999'000, -1}};
  for (const ProcListPtr& part :
       {*include_ranges(world, odd), *include_ranges(world, backwards), *exclude_ranges(world, head),
        *exclude_ranges(world, tail), union_of(world, *include_ranges(world, odd)),
        intersection_of(world, *include_ranges(world, odd))}) {
    EXPECT_TRUE(strided_form(*part));
  }
  EXPECT_EQ((*exclude_ranges(world, tail))->size(), 999'000u);
  EXPECT_EQ((*exclude_ranges(world, head))->at(0), (ProcId{0, 10}));
  EXPECT_EQ((*include_ranges(world, odd))->find({0, 777'777}), 388'888u);
}

TEST(Group, the_first_search_may_come_from_any_thread) {
  Procs procs;
  for (std::uint32_t i = 0; i < 5000; ++i) procs.push_back({i % 3, i * i});
  const ProcListPtr list = make_list(procs);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < procs.size(); ++i) wrong += list->find(procs[i]) != i;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Group, the_empty_group_is_predefined) {
  EXPECT_EQ(predefined_group(0x109)->size(), 0u);
  EXPECT_EQ(predefined_group(0x108), nullptr);
  EXPECT_EQ(compare(*empty_list(), *make_list({})), Likeness::identical);
}

}  // namespace
}  // namespace starling::mpi
