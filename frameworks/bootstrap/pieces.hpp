// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocks as control messages: how they are cut, and their reassembly. Layer: framework.
///
/// Control messages are short and arrive in the order in which one sender has sent them. So a block is sent
/// as numbered pieces, and the blocks of a creation one after the other.
/// Threads: under the runtime's lock.
/// Errors:  a piece out of order or with a wrong length makes its block bad: logged and dropped.
/// Units:   bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/block.hpp"

namespace starling::bootstrap {

/// The head of a piece, as it is on the wire (same machine architecture on both sides).
struct Piece {
  static constexpr std::uint32_t kLayout = 4;  ///< AgreementMessage has 2
  std::uint32_t layout = kLayout;
  BlockKind kind = BlockKind::up;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t context = 0;
  std::uint32_t number = 0;       ///< of the block
  std::uint32_t count = 1;        ///< of blocks
  std::uint32_t block_bytes = 0;  ///< of the whole block
  std::uint32_t offset = 0;       ///< of this piece in it
  std::uint64_t call = 0;
  std::uint64_t settings = 0;
};
static_assert(sizeof(Piece) == 64);

/// The longest messages: within a node what every pml takes; between nodes a message costs microseconds, so
/// they are longer, and two take a chunk of 64 KiB.
inline constexpr std::size_t kNodeMessageBytes = 512, kRemoteMessageBytes = 32 * 1024 + sizeof(Piece);

/// How many messages of up to `message_bytes` a block of `block_bytes` needs; wire_bytes_of(): their length
/// in all.
[[nodiscard]] constexpr std::uint64_t pieces_of(std::uint64_t block_bytes,
                                                std::size_t message_bytes) noexcept {
  const std::size_t piece_bytes = message_bytes - sizeof(Piece);
  return block_bytes == 0 ? 1 : (block_bytes + piece_bytes - 1) / piece_bytes;
}
[[nodiscard]] constexpr std::uint64_t wire_bytes_of(std::uint64_t block_bytes,
                                                    std::size_t message_bytes) noexcept {
  return block_bytes + pieces_of(block_bytes, message_bytes) * sizeof(Piece);
}

/// Hands the pieces of a block to `send`, in order, until one fails.
[[nodiscard]] Result<void> send_pieces(const Block& block, std::size_t message_bytes,
                                       const std::function<Result<void>(std::span<const std::byte>)>& send);

/// Whether a control message is a piece of a block.
[[nodiscard]] bool is_piece(std::span<const std::byte> message) noexcept;

/// Blocks that are arriving.
class Assembly {
 public:
  /// Takes a piece; returns the block if that is complete now. The bytes of `message` are not trusted.
  [[nodiscard]] std::optional<Block> take(ProcId from, std::span<const std::byte> message);
  [[nodiscard]] std::size_t open() const noexcept { return arriving_.size(); }

 private:
  struct Arriving {
    Piece head;
    std::vector<std::byte> bytes;
  };
  std::map<std::pair<ProcId, Key>, Arriving> arriving_;
};

}  // namespace starling::bootstrap
