// SPDX-License-Identifier: BSD-3-Clause
// Blocks in pieces. Layer: framework.

#include "frameworks/bootstrap/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/expects.hpp"
#include "core/log.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint32_t kBlockMaxBytes = std::uint32_t{1} << 30;

std::optional<Block> refuse(ProcId from, const char* why) {
  log::error("a piece of an address table from rank " + std::to_string(from.rank) + " was dropped: " + why);
  return std::nullopt;
}

}  // namespace

Result<void> send_pieces(const Block& block, std::size_t message_bytes,
                         const std::function<Result<void>(std::span<const std::byte>)>& send) {
  const std::size_t size = block.bytes == nullptr ? 0 : block.bytes->size();
  if (size > kBlockMaxBytes) return fail(Errc::no_space, "address table", "more than 1 GiB in one block");
  Piece piece;
  piece.kind = block.kind;
  piece.key_high = block.key.high;
  piece.key_low = block.key.low;
  piece.context = block.context.bits;
  piece.number = block.number;
  piece.count = block.count;
  piece.call = block.call;
  piece.settings = block.settings;
  piece.block_bytes = static_cast<std::uint32_t>(size);
  expects(message_bytes > sizeof piece, "messages that hold nothing");
  std::vector<std::byte> message(std::min(message_bytes, sizeof piece + size));
  do {
    const std::size_t bytes = std::min(message_bytes - sizeof piece, size - piece.offset);
    std::memcpy(message.data(), &piece, sizeof piece);
    if (bytes > 0) std::memcpy(message.data() + sizeof piece, block.bytes->data() + piece.offset, bytes);
    if (auto sent = send(std::span(message).first(sizeof piece + bytes)); !sent) return sent;
    piece.offset += static_cast<std::uint32_t>(bytes);
  } while (piece.offset < size);
  return {};
}

bool is_piece(std::span<const std::byte> message) noexcept {
  std::uint32_t layout = 0;
  if (message.size() < sizeof layout) return false;
  std::memcpy(&layout, message.data(), sizeof layout);
  return layout == Piece::kLayout;
}

std::optional<Block> Assembly::take(ProcId from, std::span<const std::byte> message) {
  Piece piece;
  if (message.size() < sizeof piece) return refuse(from, "it is shorter than its head");
  std::memcpy(&piece, message.data(), sizeof piece);
  const auto bytes = message.subspan(sizeof piece);
  if (piece.layout != Piece::kLayout || piece.kind < BlockKind::up || piece.kind > BlockKind::answer ||
      piece.block_bytes > kBlockMaxBytes || piece.number >= piece.count) {
    return refuse(from, "its layout is unknown; do all processes run the same version?");
  }
  const Key key{piece.key_high, piece.key_low};
  const auto [at, first] = arriving_.try_emplace(std::pair(from, key));
  Arriving& arriving = at->second;
  if (first) arriving.head = piece;
  if (piece.number != arriving.head.number || piece.block_bytes != arriving.head.block_bytes ||
      piece.offset != arriving.bytes.size() || bytes.size() > piece.block_bytes - piece.offset) {
    arriving_.erase(at);
    return refuse(from, "it does not continue the one before it");
  }
  arriving.bytes.insert(arriving.bytes.end(), bytes.begin(), bytes.end());
  if (arriving.bytes.size() < piece.block_bytes) return std::nullopt;
  Block block{piece.kind, key,           ContextId{piece.context}, piece.number, piece.count, nullptr,
              piece.call, piece.settings};
  if (piece.block_bytes > 0) block.bytes = share_bytes(std::move(arriving.bytes));
  arriving_.erase(at);
  return block;
}

}  // namespace starling::bootstrap
