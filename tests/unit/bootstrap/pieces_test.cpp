// SPDX-License-Identifier: BSD-3-Clause
// Blocks in pieces: what is cut is put together again, and no bytes of others do harm.

#include "frameworks/bootstrap/pieces.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace starling::bootstrap {
namespace {

constexpr ProcId kFrom{0, 7};

SharedBytes numbered(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = std::byte(i * 13 % 251);
  return share_bytes(std::move(bytes));
}

std::deque<std::vector<std::byte>> cut(const Block& block, std::size_t longest = kNodeMessageBytes) {
  std::deque<std::vector<std::byte>> messages;
  EXPECT_TRUE(send_pieces(block, longest, [&](std::span<const std::byte> message) -> Result<void> {
    EXPECT_LE(message.size(), longest);
    messages.emplace_back(message.begin(), message.end());
    return {};
  }));
  return messages;
}

constexpr std::size_t kPieceBytes = kNodeMessageBytes - sizeof(Piece);

class BlockOf : public testing::TestWithParam<std::size_t> {};

TEST_P(BlockOf, n_bytes_arrives_whole_and_takes_the_messages_that_are_foretold) {
  Block block{BlockKind::down, {3, 4}, ContextId{99}, 2, 5, nullptr};
  if (GetParam() > 0) block.bytes = numbered(GetParam());
  const auto messages = cut(block);
  std::uint64_t bytes = 0;
  for (const auto& message : messages) bytes += message.size();
  EXPECT_EQ(messages.size(), pieces_of(GetParam(), kNodeMessageBytes));
  EXPECT_EQ(bytes, wire_bytes_of(GetParam(), kNodeMessageBytes));
  Assembly assembly;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_TRUE(is_piece(messages[i]));
    const auto whole = assembly.take(kFrom, messages[i]);
    ASSERT_EQ(whole.has_value(), i + 1 == messages.size());
    if (!whole) continue;
    EXPECT_EQ(whole->kind, block.kind);
    EXPECT_EQ(whole->key, block.key);
    EXPECT_EQ(whole->context, block.context);
    EXPECT_EQ(whole->number, 2u);
    EXPECT_EQ(whole->count, 5u);
    ASSERT_EQ(whole->bytes == nullptr, GetParam() == 0);
    if (whole->bytes != nullptr) {
      EXPECT_EQ(*whole->bytes, *block.bytes);
    }
  }
  EXPECT_EQ(assembly.open(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Sizes, BlockOf,
                         testing::Values(0u, 1u, kPieceBytes - 1, kPieceBytes, kPieceBytes + 1, 100'000u));

TEST(Pieces, a_chunk_to_another_node_takes_two) {
  EXPECT_EQ(cut({BlockKind::down, {3, 4}, {}, 0, 1, numbered(64 * 1024)}, kRemoteMessageBytes).size(), 2u);
}

TEST(Assembly, keeps_senders_and_creations_apart) {
  const auto a = cut({BlockKind::up, {1, 1}, {}, 0, 1, numbered(1000)});
  const auto b = cut({BlockKind::up, {1, 2}, {}, 0, 1, numbered(1000)});
  Assembly assembly;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    EXPECT_FALSE(assembly.take(kFrom, a[i]));
    EXPECT_FALSE(assembly.take(kFrom, b[i]));
    EXPECT_FALSE(assembly.take({0, 8}, a[i]));
  }
  EXPECT_TRUE(assembly.take(kFrom, b.back()));
  EXPECT_TRUE(assembly.take({0, 8}, a.back()));
  EXPECT_TRUE(assembly.take(kFrom, a.back()));
}

TEST(Assembly, drops_what_does_not_continue) {
  const auto messages = cut({BlockKind::up, {1, 1}, {}, 0, 1, numbered(2000)});
  Assembly assembly;
  EXPECT_FALSE(assembly.take(kFrom, messages[0]));
  EXPECT_FALSE(assembly.take(kFrom, messages[2]));
  EXPECT_EQ(assembly.open(), 0u);
  EXPECT_FALSE(assembly.take(kFrom, std::span(messages[0]).first(20)));
}

TEST(Assembly, each_field_of_a_head_has_its_limits) {
  const auto message = cut({BlockKind::up, {1, 1}, {}, 4, 5, numbered(2000)})[0];
  Piece sound;
  std::memcpy(&sound, message.data(), sizeof sound);
  const auto open_after = [&](const Piece& piece) {
    auto changed = message;
    std::memcpy(changed.data(), &piece, sizeof piece);
    Assembly assembly;
    EXPECT_FALSE(assembly.take(kFrom, changed));
    return assembly.open();
  };
  EXPECT_EQ(open_after(sound), 1u);
  Piece piece = sound;
  piece.block_bytes = 1u << 30;
  EXPECT_EQ(open_after(piece), 1u);
  piece.block_bytes = (1u << 30) + 1;
  EXPECT_EQ(open_after(piece), 0u);
  for (const std::uint32_t number : {5u, 6u, ~0u}) {
    piece = sound;
    piece.number = number;
    EXPECT_EQ(open_after(piece), 0u) << number;
  }
  piece = sound;
  piece.layout = Piece::kLayout + 1;
  EXPECT_EQ(open_after(piece), 0u);
  for (const int kind : {static_cast<int>(BlockKind::up) - 1, static_cast<int>(BlockKind::answer) + 1}) {
    piece = sound;
    piece.kind = static_cast<BlockKind>(kind);
    EXPECT_EQ(open_after(piece), 0u) << kind;
  }
}

TEST(Assembly, no_damaged_head_is_believed) {
  const auto messages = cut({BlockKind::up, {1, 1}, {}, 0, 1, numbered(600)});
  for (std::size_t at = 0; at < sizeof(Piece); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      auto damaged = messages;
      damaged[1][at] = static_cast<std::byte>(value);
      Assembly assembly;
      EXPECT_FALSE(assembly.take(kFrom, damaged[0]));
      const auto whole = assembly.take(kFrom, damaged[1]);  // ASan looks
      if (whole && whole->bytes != nullptr) {
        EXPECT_EQ(whole->bytes->size(), 600u);
      }
    }
  }
}

}  // namespace
}  // namespace starling::bootstrap
