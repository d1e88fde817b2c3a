// SPDX-License-Identifier: BSD-3-Clause
// Cards and tables: what was put in comes out, and no bytes of others do harm.

#include "frameworks/bootstrap/table.hpp"

#include <gtest/gtest.h>

#include "frameworks/bootstrap/card.hpp"

namespace starling::bootstrap {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(Card, gives_each_transport_its_address_and_knows_which_are_missing) {
  const auto card = encode_card({{"ucx", bytes({1, 2, 3})}, {"ofi", {}}});
  ASSERT_TRUE(card);
  EXPECT_EQ(**find_in_card(*card, "ucx"), bytes({1, 2, 3}));
  EXPECT_EQ(**find_in_card(*card, "ofi"), bytes({}));
  EXPECT_FALSE(find_in_card(*card, "uc")->has_value());
  const auto empty = encode_card({});
  ASSERT_TRUE(empty);
  EXPECT_FALSE(find_in_card(*empty, "ucx")->has_value());
}

TEST(Card, one_that_is_cut_short_or_of_another_version_is_refused) {
  const auto card = encode_card({{"ucx", bytes({1, 2, 3})}});
  for (std::size_t cut = 0; cut < card->size(); ++cut) {
    const auto found = find_in_card(std::span(*card).first(cut), "other");
    // After the version alone a card is complete: it has no entries.
    EXPECT_EQ(found.has_value(), cut == 1) << cut;
  }
  auto newer = *card;
  newer[0] = std::byte{2};
  EXPECT_EQ(find_in_card(newer, "ucx").error().code, Errc::bad_input);
}

TEST(Table, finds_every_card_in_any_order_of_entries) {
  std::vector<TableEntry> entries;
  for (const std::uint32_t rank : {7u, 3u, 900u, 0u, 4u})
    entries.push_back({{0, rank}, bytes({int(rank % 251)})});
  entries.push_back({{0, 5000}, {}});
  const auto block = encode_table(entries);
  const auto table = Table::open(block);
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->size(), 6u);
  for (const TableEntry& entry : entries) {
    const auto card = table->card(entry.proc);
    ASSERT_TRUE(card);
    EXPECT_EQ(std::vector<std::byte>(card->begin(), card->end()), entry.card);
  }
  EXPECT_FALSE(table->card({0, 5}));
}

TEST(Table, has_no_card_of_an_equal_rank_of_another_world) {
  const auto block = encode_table({{{0, 0}, bytes({1})}, {{0, 3}, bytes({2})}});
  const auto table = Table::open(block);
  ASSERT_TRUE(table && table->card({0, 3}));
  EXPECT_FALSE(table->card({2, 0}));
  EXPECT_FALSE(table->card({65537, 3}));
}

TEST(TableDeathTest, is_of_the_own_world) {
  EXPECT_DEATH((void)encode_table({{{0, 1}, {}}, {{5, 2}, {}}}), "a table of cards is of the own world");
}

TEST(Table, no_damaged_block_is_read_beyond_its_end) {
  const auto block = encode_table({{{0, 1}, bytes({1, 2, 3})}, {{0, 2}, bytes({4})}});
  for (std::size_t cut = 0; cut < block.size(); ++cut) {
    EXPECT_FALSE(Table::open(std::span(block).first(cut))) << cut;
  }
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      auto damaged = block;
      damaged[at] = static_cast<std::byte>(value);
      const auto table = Table::open(damaged);
      if (!table) continue;
      for (std::uint32_t i = 0; i < table->size(); ++i) (void)table->entry(i);  // ASan looks
    }
  }
}

TEST(Chunks, hold_every_card_in_order_and_none_is_too_long) {
  std::vector<TableEntry> entries;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t rank = i * 7 % 300;
    entries.push_back({{0, rank}, std::vector<std::byte>(rank % 50, std::byte(rank % 251))});
  }
  entries[5].card.resize(2000);  // longer than a chunk: it gets one of its own
  std::uint32_t next = 0;
  for (const auto& chunk : encode_chunks(entries, 1000)) {
    const auto table = Table::open(chunk);
    ASSERT_TRUE(table);
    ASSERT_GT(table->size(), 0u);
    EXPECT_TRUE(chunk.size() <= 1000 || table->size() == 1) << chunk.size();
    for (std::uint32_t i = 0; i < table->size(); ++i) EXPECT_EQ(table->at(i).rank, next++);
  }
  EXPECT_EQ(next, 300u);
  EXPECT_TRUE(encode_chunks({}, 1000).empty());
  EXPECT_EQ(encode_chunks(entries, 1'000'000).front(), encode_table(entries));
}

}  // namespace
}  // namespace starling::bootstrap
