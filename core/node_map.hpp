// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which rank is on which node, kept compressed. Layer: core.
///
/// The form is PMI_process_mapping's: blocks of `count` nodes starting at `first_node` with `ranks_each`
/// ranks on each; a map that is shorter than the job wraps to the last block that starts at node 0 (to its
/// first block if there is none). Memory O(blocks), never O(job). Equal maps have equal text: neighbouring
/// blocks are merged where that changes nothing.
///
/// Threads: value type.
/// Errors:  parse() names the offset and the rule; at most kMaxBlocks blocks, however small the text
///          ("[0,1]x999999999").

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace starling {

class NodeMap {
 public:
  struct Block {
    std::uint32_t first_node = 0;
    std::uint32_t node_count = 0;
    std::uint32_t ranks_each = 0;
    friend bool operator==(const Block&, const Block&) = default;
  };

  static constexpr std::size_t kMaxBlocks = 1u << 16;

  NodeMap() = default;
  /// Parses `(vector,(X,Y,Z)[,...])`, bare node numbers and `[ ... ]xN` repeats; "" is an unknown map.
  [[nodiscard]] static Result<NodeMap> parse(std::string_view text);
  /// All ranks on node 0.
  [[nodiscard]] static NodeMap one_node(std::uint32_t size) { return NodeMap({{0, 1, size}}); }
  explicit NodeMap(std::vector<Block> blocks);

  [[nodiscard]] bool unknown() const noexcept { return blocks_.empty(); }
  /// Asking an unknown map (here and below) is a bug.
  [[nodiscard]] NodeId node_of(std::uint32_t rank) const noexcept;
  /// The local rank of `rank`: how many lower ranks are on its node.
  [[nodiscard]] std::uint32_t local_rank(std::uint32_t rank) const;
  /// Ranks of a job of `size` on `node`, ascending.
  [[nodiscard]] std::vector<std::uint32_t> ranks_on(NodeId node, std::uint32_t size) const;
  /// Distinct nodes that a job of `size` uses.
  [[nodiscard]] std::uint32_t node_count(std::uint32_t size) const;
  /// The canonical text form, as a server sends it.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }

  friend bool operator==(const NodeMap&, const NodeMap&) = default;

 private:
  /// Ranks below `upto` on `node`.
  [[nodiscard]] std::uint64_t count_on(std::uint32_t node, std::uint64_t upto) const noexcept;

  std::vector<Block> blocks_;
  std::size_t wrap_ = 0;          ///< index of the block where a map that is too short starts again
  std::uint64_t ranks_ = 0;       ///< ranks before the first wrap
  std::uint64_t wrap_ranks_ = 0;  ///< ranks per turn after it
};

}  // namespace starling
