// SPDX-License-Identifier: BSD-3-Clause
// Books of cards: found through the node's store or without one; no bytes of others do harm.

#include "plugins/bootstrap/hierarchical/book.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace starling::bootstrap {
namespace {

SharedBytes chunk_of(std::initializer_list<std::uint32_t> ranks) {
  std::vector<TableEntry> entries;
  for (const std::uint32_t rank : ranks) entries.push_back({{0, rank}, {std::byte(rank), std::byte{7}}});
  return share_bytes(encode_table(entries));
}

/// Places are 100, 200, ...; a given number of things fits.
class Store final : public NodeStore {
 public:
  explicit Store(std::size_t room = 100) : room_(room) {}
  Result<std::uint64_t> keep(const SharedBytes& bytes) override {
    if (kept_.size() == room_) return fail(Errc::no_space, "store", "it is full");
    kept_[100 * (kept_.size() + 1)] = bytes;
    return 100 * kept_.size();
  }
  std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const override {
    EXPECT_TRUE(kept_.count(place) == 1 && kept_.at(place)->size() == bytes) << place << ", " << bytes;
    return *kept_.at(place);
  }

 private:
  std::size_t room_;
  std::map<std::uint64_t, SharedBytes> kept_;
};

Block block_of(const SharedBook& where) {
  std::vector<std::byte> bytes(sizeof where);
  std::memcpy(bytes.data(), &where, sizeof where);
  Block block;
  block.bytes = share_bytes(std::move(bytes));
  return block;
}

void expect_cards(const Book& book) {
  EXPECT_EQ(book.chunks(), 2u);
  for (const std::uint32_t rank : {2u, 5u, 9u, 30u}) {
    const auto card = book.card({0, rank});
    ASSERT_TRUE(card) << rank;
    ASSERT_EQ(card->size(), 2u);
    EXPECT_EQ((*card)[0], std::byte(rank));
  }
  for (const std::uint32_t rank : {0u, 1u, 3u, 8u, 10u, 31u}) EXPECT_FALSE(book.card({0, rank})) << rank;
}

void fill(Book& book) {
  ASSERT_TRUE(book.add(chunk_of({2, 5})));
  ASSERT_TRUE(book.add(chunk_of({9, 30})));
}

TEST(Book, finds_every_card_with_a_store_without_one_and_with_a_full_one) {
  Store whole, tight(1);
  for (NodeStore* const store :
       {static_cast<NodeStore*>(nullptr), static_cast<NodeStore*>(&whole), static_cast<NodeStore*>(&tight)}) {
    Book book(store);
    fill(book);
    expect_cards(book);
    EXPECT_EQ(book.share().has_value(), store == &whole);
    expect_cards(book);
  }
}

TEST(Book, is_read_by_others_of_the_node) {
  Store store;
  Book book(&store);
  EXPECT_FALSE(book.share()) << "there is nothing in it";
  fill(book);
  const auto where = book.share();
  ASSERT_TRUE(where);
  const auto other = Book::open(&store, block_of(*where));
  ASSERT_TRUE(other) << other.error().text();
  expect_cards(*other);
}

TEST(Book, chunks_have_to_come_in_order_and_hold_something) {
  Book book(nullptr);
  ASSERT_TRUE(book.add(chunk_of({9, 30})));
  for (const auto& chunk : {chunk_of({2, 5}), chunk_of({9, 31}), chunk_of({}),
                            share_bytes(std::vector<std::byte>(3, std::byte{0xff}))})
    EXPECT_EQ(book.add(chunk).error().code, Errc::bad_input);
  EXPECT_EQ(book.chunks(), 1u);
}

TEST(Book, a_place_that_is_none_is_refused) {
  Store store;
  Book book(&store);
  fill(book);
  const SharedBook where = *book.share();
  ASSERT_EQ(where.bytes, 2 * sizeof(ChunkPlace));
  EXPECT_EQ(Book::open(nullptr, block_of(where)).error().code, Errc::bad_input);
  EXPECT_EQ(Book::open(&store, Block{}).error().code, Errc::bad_input);
  for (const SharedBook wrong : {SharedBook{0, where.bytes}, SharedBook{where.place, 0},
                                 SharedBook{where.place, 1}, SharedBook{where.place, where.bytes - 1}})
    EXPECT_EQ(Book::open(&store, block_of(wrong)).error().code, Errc::bad_input) << wrong.bytes;
  Block cut = block_of(where);
  cut.bytes = share_bytes(std::vector<std::byte>(cut.bytes->begin(), cut.bytes->end() - 1));
  EXPECT_EQ(Book::open(&store, cut).error().code, Errc::bad_input);
}

}  // namespace
}  // namespace starling::bootstrap
