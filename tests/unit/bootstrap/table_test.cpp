// SPDX-License-Identifier: BSD-3-Clause
// Cards and tables: what was put in comes out, and no bytes of others do harm.

#include "frameworks/bootstrap/table.hpp"

#include <gtest/gtest.h>

#include "frameworks/bootstrap/card.hpp"
#include "frameworks/bootstrap/roots.hpp"
#include "tests/unit/bootstrap/lists.hpp"

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
  entries.push_back({{1, 3}, {}});
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
  EXPECT_FALSE(table->card({2, 0}));
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

/// Ranks 0..3 on node 5, 4..7 on node 6 and so on.
std::uint32_t node_of(const void*, std::uint32_t rank) noexcept { return 5 + rank / 4; }

TEST(Roots, every_member_has_one_way_to_the_leader) {
  const Places places{&node_of, nullptr};
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 1; rank < 90; rank += rank % 5 == 0 ? 3 : 1) ranks.push_back(rank);
  const ProcListPtr members = test::list(ranks);
  std::size_t leaders = 0, children = 0;
  for (const std::uint32_t rank : ranks) {
    const RootsPlace place = place_among_roots(members, {0, rank}, places, 4);
    leaders += place.parent ? 0 : 1;
    children += place.node_children.size() + place.root_children.size();
    EXPECT_LE(place.root_children.size(), 4u);
    if (!place.root) {
      EXPECT_EQ(node_of(nullptr, place.parent->rank), node_of(nullptr, rank));
      EXPECT_TRUE(place.node_children.empty() && place.root_children.empty());
    }
    for (const auto& below : {place.node_children, place.root_children}) {
      for (const ProcId child : below) {
        EXPECT_EQ(place_among_roots(members, child, places, 4).parent, (ProcId{0, rank}));
      }
    }
  }
  EXPECT_EQ(leaders, 1u);
  EXPECT_EQ(children, ranks.size() - 1);
}

}  // namespace
}  // namespace starling::bootstrap
