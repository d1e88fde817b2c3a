// SPDX-License-Identifier: BSD-3-Clause
// Blocks in pieces. Layer: plugin.

#include "plugins/bootstrap/hierarchical/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/log.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::size_t kControlBytes = 512;  // the longest control message that a pml takes
constexpr std::size_t kPieceBytes = kControlBytes - sizeof(Piece);
constexpr std::uint32_t kBlockMaxBytes = std::uint32_t{1} << 30;

void refuse(ProcId from, const char* why) {
  log::error("a piece of an address table from rank " + std::to_string(from.rank) + " was dropped: " + why);
}

}  // namespace

Result<void> send_block(Courier& courier, ProcId to, const Key& key, const Block& block) {
  Piece piece;
  piece.kind = block.kind;
  piece.key_high = key.high;
  piece.key_low = key.low;
  piece.context = block.context.bits;
  piece.block_bytes = static_cast<std::uint32_t>(block.bytes.size());
  std::byte message[kControlBytes];
  do {
    const std::size_t bytes = std::min(kPieceBytes, block.bytes.size() - piece.offset);
    std::memcpy(message, &piece, sizeof piece);
    std::copy_n(block.bytes.data() + piece.offset, bytes, message + sizeof piece);
    if (auto sent = courier.send(to, {message, sizeof piece + bytes}); !sent) return sent;
    piece.offset += static_cast<std::uint32_t>(bytes);
  } while (piece.offset < block.bytes.size());
  return {};
}

void Inbox::take(ProcId from, std::span<const std::byte> message) {
  Piece piece;
  if (message.size() < sizeof piece) return refuse(from, "it is shorter than its head");
  std::memcpy(&piece, message.data(), sizeof piece);
  const auto bytes = message.subspan(sizeof piece);
  if (piece.layout != Piece::kLayout || piece.kind < PieceKind::up || piece.kind > PieceKind::shared ||
      piece.block_bytes > kBlockMaxBytes) {
    return refuse(from, "its layout is unknown; do all processes run the same version?");
  }
  Entry& entry = entries_[Key{piece.key_high, piece.key_low}];
  if (entry.given_up) return;
  const auto [at, first] = entry.from.try_emplace(from);
  Arriving& arriving = at->second;
  if (first) {
    arriving.block = {piece.kind, ContextId{piece.context}, {}};
    arriving.missing = piece.block_bytes;
  }
  if (piece.offset != arriving.block.bytes.size() || bytes.size() > arriving.missing) {
    return refuse(from, "it does not continue the one before it");
  }
  arriving.block.bytes.insert(arriving.block.bytes.end(), bytes.begin(), bytes.end());
  arriving.missing -= bytes.size();
}

const Block* Inbox::find(const Key& key, ProcId from) const {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return nullptr;
  const auto at = entry->second.from.find(from);
  return at == entry->second.from.end() || at->second.missing != 0 ? nullptr : &at->second.block;
}

void Inbox::close(const Key& key, bool given_up) {
  if (given_up) {
    entries_[key] = Entry{.given_up = true, .from = {}};
  } else {
    entries_.erase(key);
  }
}

}  // namespace starling::bootstrap
