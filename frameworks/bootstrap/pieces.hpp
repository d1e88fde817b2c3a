// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Long texts as control messages: what an exchange sends, and its reassembly. Layer: plugin.
///
/// Control messages are short and keep their order per sender, so a block travels as numbered pieces.
/// Threads: under the runtime's lock.
/// Errors:  a piece out of order or with a wrong length makes the block bad; who waits for it hears that.
/// Units:   bytes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/group_key.hpp"

namespace starling::bootstrap {

enum class PieceKind : std::uint32_t {
  up = 1,     ///< the table of the sender's subtree
  down = 2,   ///< the whole table, and the context id
  shared = 3  ///< the context id, and where in the node's segment the whole table is
};

struct Piece {
  static constexpr std::uint32_t kLayout = 2;  ///< AgreementMessage has 1
  std::uint32_t layout = kLayout;
  PieceKind kind = PieceKind::up;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t context = 0;
  std::uint32_t block_bytes = 0;  ///< of the whole block
  std::uint32_t offset = 0;       ///< of this piece in it
};
static_assert(sizeof(Piece) == 40);

/// Where a table is in the node's segment; the block of PieceKind::shared.
struct SharedTable {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Block {
  PieceKind kind = PieceKind::up;
  ContextId context;
  std::vector<std::byte> bytes;
};

[[nodiscard]] Result<void> send_block(Courier& courier, ProcId to, const Key& key, const Block& block);

/// Blocks that have arrived or are arriving, by creation and sender.
class Inbox {
 public:
  /// Bytes are another process's; what is malformed is logged and dropped.
  void take(ProcId from, std::span<const std::byte> message);
  /// The whole block of a sender, or null.
  [[nodiscard]] const Block* find(const Key& key, ProcId from) const;
  /// Forgets a creation. Given up: later pieces are dropped.
  void close(const Key& key, bool given_up);
  [[nodiscard]] std::size_t open() const noexcept { return entries_.size(); }

 private:
  struct Arriving {
    Block block;
    std::size_t missing = 0;
  };
  struct Entry {
    bool given_up = false;
    std::map<ProcId, Arriving> from;
  };
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace starling::bootstrap
