// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What processes that exchange addresses send each other: blocks of any length. Layer: framework.
///
/// Threads:   value types.
/// Ownership: the bytes of a block are shared and never changed: passing them on copies nothing.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.hpp"
#include "frameworks/bootstrap/group_key.hpp"
#include "frameworks/bootstrap/orders.hpp"

namespace starling::bootstrap {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

[[nodiscard]] inline SharedBytes share_bytes(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

enum class BlockKind : std::uint32_t {
  up = 1,      ///< the table of the sender's subtree; `context`: see UpNote
  down = 2,    ///< a chunk of the whole table, and the context id
  shared = 3,  ///< the context id, and where the node keeps the whole table
  failed = 4,  ///< the creation cannot succeed: a text, or no bytes and in `context` the rank that has died
  withdrawn = 5,  ///< the sender has given up the call of its `up`
  question = 6,   ///< asks for an answer
  answer = 7      ///< what the sender has and does: consistency.hpp
};

struct Block {
  BlockKind kind = BlockKind::up;
  Key key;  ///< of the creation
  ContextId context;
  std::uint32_t number = 0;  ///< of this block among those of its kind from this sender
  std::uint32_t count = 1;   ///< how many there are
  SharedBytes bytes;         ///< null: none
  /// up: the sender's number of its call; what goes down has that of the receiver's. 0: of any call.
  std::uint64_t call = 0;
  std::uint64_t settings = 0;  ///< Settings::hash() of the sender
};

/// `context` of an up block: whether somebody in the subtree misses addresses, and the orders of the members.
struct UpNote {
  bool wants_table = false;
  Orders orders;
  [[nodiscard]] static UpNote read(ContextId context) noexcept {
    return {(context.bits & 1) != 0, Orders::read(context.bits >> 1)};
  }
  [[nodiscard]] ContextId written() const noexcept {
    return ContextId{orders.written() << 1 | (wants_table ? 1u : 0u)};
  }
};

}  // namespace starling::bootstrap
