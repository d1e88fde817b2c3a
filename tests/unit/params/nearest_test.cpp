// SPDX-License-Identifier: BSD-3-Clause
// Which name was meant.

#include "params/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace starling::params {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"btl", "btl_shm_eager_limit", "log_level", "plugin_path",
                                                    "pml"};

TEST(EditDistance, counts_inserted_removed_replaced_and_swapped_characters) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("abc", "abxc"), 1u);
  EXPECT_EQ(edit_distance("abc", "ac"), 1u);
  EXPECT_EQ(edit_distance("abc", "axc"), 1u);
  EXPECT_EQ(edit_distance("abc", "acb"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, slips_of_the_finger_are_recognised) {
  EXPECT_EQ(nearest("log_levle", kNames), "log_level");
  EXPECT_EQ(nearest("plugin_paht", kNames), "plugin_path");
  EXPECT_EQ(nearest("bt", kNames), "btl");
}

TEST(Nearest, a_name_that_was_cut_short_or_continued_is_recognised) {
  EXPECT_EQ(nearest("btl_shm_eager", kNames), "btl_shm_eager_limit");
  EXPECT_EQ(nearest("log_level_of_everything", kNames), "log_level");
}

TEST(Nearest, what_is_near_to_nothing_stays_unknown) {
  EXPECT_EQ(nearest("orte_base_help_aggregate", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("y", std::array<std::string_view, 1>{"x"}), "") << "every letter differs";
  EXPECT_EQ(nearest("btl", {}), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'b'), kNames), "");
}

}  // namespace
}  // namespace starling::params
