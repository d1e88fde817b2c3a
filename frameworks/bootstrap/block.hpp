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

namespace starling::bootstrap {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

[[nodiscard]] inline SharedBytes share_bytes(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

enum class BlockKind : std::uint32_t {
  up = 1,      ///< the table of the sender's subtree
  down = 2,    ///< a sheet of the whole table, and the context id
  shared = 3,  ///< the context id, and where the node keeps the whole table
  failed = 4   ///< instead of them: a member has died; its rank in place of the context id
};

struct Block {
  BlockKind kind = BlockKind::up;
  Key key;  ///< of the creation
  ContextId context;
  std::uint32_t number = 0;  ///< of this block among those of its kind from this sender
  std::uint32_t count = 1;   ///< how many there are
  SharedBytes bytes;         ///< null: none
};

}  // namespace starling::bootstrap
