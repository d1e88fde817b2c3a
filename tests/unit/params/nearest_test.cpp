// SPDX-License-Identifier: BSD-3-Clause
// Which name was meant.

#include "params/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace starling::params {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"btl", "btl_shm_eager_limit", "log_level", "plugin_path",
                                                    "pml"};
const std::string kLong(257, 'b');

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

/// Optimal string alignment by its definition.
std::size_t by_definition(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view a1 = a.substr(1), b1 = b.substr(1);
  std::size_t best = std::min(
      {by_definition(a1, b) + 1, by_definition(a, b1) + 1, by_definition(a1, b1) + (a[0] == b[0] ? 0u : 1u)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    best = std::min(best, by_definition(a.substr(2), b.substr(2)) + 1);
  return best;
}

TEST(EditDistance, of_all_short_words_is_what_its_definition_says) {
  std::vector<std::string> words{""};
  for (std::size_t i = 0; words[i].size() < 4; ++i) {
    for (const char letter : {'a', 'b', 'c'}) words.push_back(words[i] + letter);
  }
  for (const std::string& a : words) {
    const std::string beside = 'b' + a + 'a';  // must not count
    for (const std::string& b : words) {
      ASSERT_EQ(edit_distance(std::string_view(beside).substr(1, a.size()), b), by_definition(a, b))
          << a << ' ' << b;
    }
  }
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

TEST(Nearest, at_least_four_letters_have_to_be_those_of_the_name_that_goes_on) {
  const auto of = [](std::string_view name, std::string_view declared) {
    return nearest(name, std::array<std::string_view, 1>{declared});
  };
  EXPECT_EQ(of("btls", "btls_of_everything"), "btls_of_everything");
  EXPECT_EQ(of("btl", "btl_of_everything"), "");
  EXPECT_EQ(of("btls_of_everything", "btls"), "btls");
  EXPECT_EQ(of("btl_of_everything", "btl"), "");
}

TEST(Nearest, a_third_of_the_letters_may_differ_and_the_first_of_the_nearest_is_taken) {
  const auto of = [](std::string_view name, std::string_view declared) {
    return nearest(name, std::array<std::string_view, 1>{declared});
  };
  EXPECT_EQ(of("abcdef", "abcdxy"), "abcdxy");
  EXPECT_EQ(of("abcdef", "abcxyz"), "");
  EXPECT_EQ(of("ab", "ax"), "ax") << "one letter, however short the name";
  EXPECT_EQ(of("abcde", "abcxy"), "");
  EXPECT_EQ(nearest("abcd", std::array<std::string_view, 3>{"abxy", "abcx", "abcy"}), "abcx");
  EXPECT_EQ(
      nearest(std::string(256, 'b'), std::array<std::string_view, 1>{std::string_view(kLong).substr(1)}),
      std::string(kLong).substr(1));
  EXPECT_EQ(of(kLong, std::string_view(kLong).substr(1)), "") << "longer than any name";
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
