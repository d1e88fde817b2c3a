// SPDX-License-Identifier: BSD-3-Clause
// core/worlds: names, indices that are never given twice, and which list is a whole world. Layer: tests.

#include "core/worlds.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/conformance/bootstrap/lists.hpp"
#include "tests/unit/core/procs.hpp"

namespace starling {
namespace {

World called(const std::string& job, std::uint32_t size = 2, std::uint64_t nonce = 7) {
  return {{"pmi1", job, nonce}, size, NodeMap::one_node(size), CardSource::roots};
}

TEST(Worlds, own_one_is_there_from_the_start) {
  Worlds worlds(called("ours", 4));
  EXPECT_EQ(worlds.size(), 1u);
  EXPECT_EQ(worlds.find(Worlds::kOwn)->name.job, "ours");
  EXPECT_TRUE(worlds.contains({0, 3}));
  EXPECT_FALSE(worlds.contains({0, 4}));
  EXPECT_FALSE(worlds.contains({1, 0}));
}

TEST(Worlds, own_one_cannot_be_released) {
  Worlds worlds(called("ours"));
  EXPECT_FALSE(worlds.release(Worlds::kOwn));
  EXPECT_NE(worlds.find(Worlds::kOwn), nullptr);
}

TEST(Worlds, world_is_found_by_its_name) {
  Worlds worlds(called("ours"));
  const std::uint32_t index = *worlds.add(called("theirs", 5));
  EXPECT_NE(index, Worlds::kOwn);
  EXPECT_EQ(worlds.find(WorldName{"pmi1", "theirs", 7}), index);
  EXPECT_EQ(worlds.find(index)->size, 5u);
  EXPECT_EQ(worlds.find(WorldName{"pmi1", "theirs", 8}), std::nullopt);
  EXPECT_EQ(worlds.find(WorldName{"pmix", "theirs", 7}), std::nullopt);
}

TEST(Worlds, jobs_of_one_name_are_two_worlds) {
  Worlds worlds(called("1234.0", 2, 1));
  const auto other = worlds.add(called("1234.0", 2, 2));
  ASSERT_TRUE(other);
  EXPECT_NE(*other, Worlds::kOwn);
  EXPECT_EQ(worlds.size(), 2u);
}

TEST(Worlds, world_that_is_met_twice_is_one_until_both_release_it) {
  Worlds worlds;
  const std::uint32_t index = *worlds.add(called("theirs"));
  EXPECT_EQ(*worlds.add(called("theirs")), index);
  EXPECT_FALSE(worlds.release(index));
  EXPECT_NE(worlds.find(index), nullptr);
  EXPECT_TRUE(worlds.release(index));
  EXPECT_EQ(worlds.find(index), nullptr);
  EXPECT_EQ(worlds.size(), 1u);
}

TEST(Worlds, world_that_contradicts_what_is_known_is_refused) {
  Worlds worlds;
  (void)*worlds.add(called("theirs", 3));
  const auto other = worlds.add(called("theirs", 4));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::bad_input);
  EXPECT_EQ(other.error().text(),
            "world theirs (pmi1): it is said to have 4 processes, and is known to have 3");
}

TEST(Worlds, thousand_worlds_use_one_place_and_no_index_twice) {
  Worlds worlds;
  std::set<std::uint32_t> used;
  for (int at = 0; at < 1000; ++at) {
    const std::uint32_t index = *worlds.add(called("job" + std::to_string(at)));
    EXPECT_TRUE(used.insert(index).second);
    EXPECT_EQ(index % Worlds::kPlacesMax, 1u);
    EXPECT_TRUE(worlds.release(index));
    EXPECT_FALSE(worlds.contains({index, 0}));
  }
  EXPECT_EQ(worlds.size(), 1u);
}

TEST(Worlds, place_whose_uses_are_at_an_end_is_left) {
  Worlds worlds;
  for (std::uint32_t at = 0; at < Worlds::kUsesMax; ++at) (void)worlds.release(*worlds.add(called("brief")));
  EXPECT_EQ(*worlds.add(called("brief")), 2u);
}

TEST(Worlds, place_that_has_been_free_for_longest_is_used_first) {
  Worlds worlds;
  const std::uint32_t first = *worlds.add(called("first")), second = *worlds.add(called("second"));
  (void)worlds.release(second);
  (void)worlds.release(first);
  EXPECT_EQ(*worlds.add(called("third")) % Worlds::kPlacesMax, second);
  EXPECT_EQ(*worlds.add(called("fourth")) % Worlds::kPlacesMax, first);
}

TEST(Worlds, text_names_other_worlds_only) {
  Worlds worlds;
  const std::uint32_t index = *worlds.add(called("theirs"));
  EXPECT_EQ(worlds.text({0, 3}), "rank 3");
  EXPECT_EQ(worlds.text({index, 1}), "rank 1 of world theirs (pmi1)");
  (void)worlds.release(index);
  EXPECT_EQ(worlds.text({index, 1}), "rank 1 of a world that has gone");
}

TEST(Worlds, text_without_the_table_tells_other_worlds_by_their_index) {
  EXPECT_EQ(text_of({Worlds::kOwn, 3}), "rank 3");
  EXPECT_EQ(text_of({5, 3}), "rank 3 of the world with index 5");
}

TEST(WorldName, hash_depends_on_every_part) {
  const WorldName name{"pmi1", "job", 1};
  EXPECT_EQ(hash_of(name), hash_of(WorldName{"pmi1", "job", 1}));
  EXPECT_NE(hash_of(name), hash_of(WorldName{"pmi", "1job", 1}));
  EXPECT_NE(hash_of(name), hash_of(WorldName{"pmix", "job", 1}));
  EXPECT_NE(hash_of(name), hash_of(WorldName{"pmi1", "job", 2}));
}

TEST(WholeWorld, as_many_processes_of_two_worlds_are_none) {
  using test::procs;
  using test::run;
  EXPECT_TRUE(is_whole_world(*procs({{0, 0}, {0, 1}, {0, 2}}), 0, 3));
  EXPECT_TRUE(is_whole_world(*procs({{0, 2}, {0, 0}, {0, 1}}), 0, 3));
  EXPECT_FALSE(is_whole_world(*procs({{0, 0}, {0, 1}}), 0, 3));
  EXPECT_FALSE(is_whole_world(*procs({{0, 0}, {1, 0}, {0, 1}}), 0, 3));
  EXPECT_FALSE(is_whole_world(*procs({{1, 0}, {1, 1}, {1, 2}}), 0, 3));
  EXPECT_TRUE(is_within_world(*procs({{0, 2}, {0, 7}}), 0));
  EXPECT_FALSE(is_within_world(*procs({{0, 2}, {1, 7}}), 0));
  EXPECT_TRUE(is_whole_world(*run(0, 3), 0, 3));
  EXPECT_FALSE(is_whole_world(*run(0, 3), 1, 3));
}

}  // namespace
}  // namespace starling
