// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a fence as text, both forms.

#include <gtest/gtest.h>

#include <numeric>

#include "frameworks/pmi/rank_list.hpp"

namespace starling::pmi {
namespace {

using Ranks = std::vector<std::uint32_t>;

Ranks many(std::uint32_t first, std::uint32_t count, std::uint32_t step) {
  Ranks ranks;
  for (std::uint32_t i = 0; i < count; ++i) ranks.push_back(first + i * step);
  return ranks;
}

TEST(RankText, a_list_names_each) {
  EXPECT_EQ(rank_text(Ranks{0, 1, 2, 3}, RankForm::list), "0,1,2,3");
  EXPECT_EQ(rank_text(Ranks{}, RankForm::list), "");
}

TEST(RankText, runs_do_not_grow_with_their_members) {
  EXPECT_EQ(rank_text(many(10, 80, 1), RankForm::runs), "10-89");
  EXPECT_EQ(rank_text(many(0, 1'000'000, 1), RankForm::runs), "0-999999");
  EXPECT_EQ(rank_text(many(0, 1000, 64), RankForm::runs), "0-63936/64");
  EXPECT_EQ(rank_text(Ranks{7}, RankForm::runs), "7");
  EXPECT_EQ(rank_text(Ranks{3, 9}, RankForm::runs), "3,9");
  EXPECT_EQ(rank_text(Ranks{0, 1, 2, 5, 9, 11, 13, 15, 40}, RankForm::runs), "0-2,5,9-15/2,40");
}

TEST(RankText, what_is_written_is_read_again) {
  for (std::uint32_t seed = 1; seed < 200; ++seed) {
    Ranks ranks;
    for (std::uint32_t rank = 0, bits = seed * 2654435761u; rank < 32; ++rank)
      if ((bits >> rank & 1) != 0) ranks.push_back(rank);
    for (const RankForm form : {RankForm::list, RankForm::runs})
      EXPECT_EQ(read_ranks(rank_text(ranks, form), 32), ranks) << rank_text(ranks, form);
  }
}

TEST(ReadRanks, order_and_repetition_do_not_matter) {
  EXPECT_EQ(read_ranks("2,0,2", 3), (Ranks{0, 2}));
  EXPECT_EQ(read_ranks("4-6,1", 7), (Ranks{1, 4, 5, 6}));
  EXPECT_EQ(read_ranks("0-4294967294/4294967294", 0xffffffffu), (Ranks{0, 4294967294u}));
}

TEST(ReadRanks, other_texts_are_refused) {
  for (const char* text :
       {"x", "-1", "0-", "3-1", "0-9/0", "0-9/", "0-9/x", "0-10", "10", "0,,1", "0-2x", "1 "})
    EXPECT_FALSE(read_ranks(text, 10)) << text;
}

TEST(ReadRanks, runs_of_more_ranks_than_there_are_cost_nothing) {
  std::string text = "0-999";
  for (int i = 0; i < 1000; ++i) text += ",0-999";
  EXPECT_FALSE(read_ranks(text, 1000));
}

}  // namespace
}  // namespace starling::pmi
