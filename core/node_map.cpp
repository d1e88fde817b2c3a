// SPDX-License-Identifier: BSD-3-Clause
// Reading and asking PMI_process_mapping. Layer: core.
//
// Hard here: merging neighbouring blocks must not move the point that a short map wraps to (the last block
// that starts at node 0). Two blocks that both start at node 0 are therefore never merged, except a run of
// the same bare number, which is one block by definition. See docs/design/pmi.md.

#include "core/node_map.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/expects.hpp"

namespace starling {
namespace {

using Block = NodeMap::Block;

std::uint64_t ranks_in(const Block& block) noexcept {
  return std::uint64_t{block.node_count} * block.ranks_each;
}

bool contains(const Block& block, std::uint32_t node) noexcept {
  return node >= block.first_node && node - block.first_node < block.node_count;
}

/// Whether `next` can be taken into `last` without moving the wrap point, and does so.
bool merged(Block& last, const Block& next) noexcept {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::uint32_t>::max();
  if (next.first_node == 0) return false;
  const bool same_node = last.node_count == 1 && next.node_count == 1 && last.first_node == next.first_node;
  if (same_node && std::uint64_t{last.ranks_each} + next.ranks_each <= kLimit) {
    last.ranks_each += next.ranks_each;
    return true;
  }
  const bool adjacent = std::uint64_t{last.first_node} + last.node_count == next.first_node;
  if (adjacent && last.ranks_each == next.ranks_each) {
    last.node_count += next.node_count;
    return true;
  }
  return false;
}

/// Recursive descent over `(vector, item, ...)`. One nesting of [] only: that is all that servers send.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Block>> run() {
    std::vector<Block> blocks;
    skip_space();
    if (!word("(") || !word("vector")) return broken("a map starts with \"(vector,\"");
    while (word(",")) {
      if (auto read = item(blocks, true); !read) return fail(std::move(read).error());
      if (blocks.size() > NodeMap::kMaxBlocks) return broken("more than 65536 blocks");
    }
    if (!word(")")) return broken("\",\" or \")\" is expected");
    if (at_ != text_.size()) return broken("nothing may follow the last \")\"");
    if (blocks.empty()) return broken("at least one block is expected");
    return blocks;
  }

 private:
  void skip_space() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool word(std::string_view expected) noexcept {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    skip_space();
    return true;
  }
  [[nodiscard]] Unexpected broken(std::string_view rule) const {
    return fail(Errc::bad_input, "PMI_process_mapping",
                "byte " + std::to_string(at_) + ": " + std::string(rule));
  }
  Result<std::uint32_t> number() {
    std::uint32_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), value);
    if (code != std::errc{}) return broken("a number from 0 to 4294967295 is expected");
    at_ += static_cast<std::size_t>(end - first);
    skip_space();
    return value;
  }

  Result<void> item(std::vector<Block>& blocks, bool repeats_allowed) {
    if (repeats_allowed && word("[")) return repeat(blocks);
    if (word("(")) return triple(blocks);
    auto node = number();
    if (!node) return fail(std::move(node).error());
    // A run of one bare number is one block, also at node 0.
    if (bare_ && !blocks.empty() && blocks.back().first_node == *node && blocks.back().node_count == 1) {
      ++blocks.back().ranks_each;
    } else {
      blocks.push_back({*node, 1, 1});
    }
    bare_ = true;
    return {};
  }

  Result<void> triple(std::vector<Block>& blocks) {
    std::uint32_t values[3] = {};
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && !word(",")) return broken("a block is (first node,nodes,ranks on each)");
      auto read = number();
      if (!read) return fail(std::move(read).error());
      values[i] = *read;
    }
    if (!word(")")) return broken("a block is (first node,nodes,ranks on each)");
    if (values[1] == 0 || values[2] == 0) return broken("a block has at least one node and one rank on each");
    if (std::uint64_t{values[0]} + values[1] - 1 > std::numeric_limits<std::uint32_t>::max()) {
      return broken("the node number exceeds 32 bits");
    }
    blocks.push_back({values[0], values[1], values[2]});
    bare_ = false;
    return {};
  }

  Result<void> repeat(std::vector<Block>& blocks) {
    std::vector<Block> body;
    bare_ = false;
    do {
      if (auto read = item(body, false); !read) return fail(std::move(read).error());
      if (body.size() > NodeMap::kMaxBlocks) return broken("more than 65536 blocks");
    } while (word(","));
    if (!word("]") || !word("x")) return broken("a repeat is [block,...]xN");
    auto times = number();
    if (!times) return fail(std::move(times).error());
    bare_ = false;
    if (*times == 0) return broken("a repeat count is at least 1");
    if (std::uint64_t{*times} * body.size() + blocks.size() > NodeMap::kMaxBlocks) {
      return broken("more than 65536 blocks");
    }
    for (std::uint32_t i = 0; i < *times; ++i) blocks.insert(blocks.end(), body.begin(), body.end());
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool bare_ = false;  ///< the previous item was a bare number
};

}  // namespace

NodeMap::NodeMap(std::vector<Block> blocks) {
  for (const Block& block : blocks) {
    if (ranks_in(block) == 0) continue;
    blocks_.push_back(block);
    // What has grown may now fit to its own predecessor.
    while (blocks_.size() > 1 && merged(blocks_[blocks_.size() - 2], blocks_.back())) blocks_.pop_back();
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].first_node == 0) wrap_ = i;
    ranks_ += ranks_in(blocks_[i]);
  }
  for (std::size_t i = wrap_; i < blocks_.size(); ++i) wrap_ranks_ += ranks_in(blocks_[i]);
}

Result<NodeMap> NodeMap::parse(std::string_view text) {
  if (text.empty()) return NodeMap{};
  auto blocks = Parser(text).run();
  if (!blocks) return fail(std::move(blocks).error());
  return NodeMap(std::move(*blocks));
}

NodeId NodeMap::node_of(std::uint32_t rank) const noexcept {
  expects(!unknown(), "node_of() of an unknown node map");
  std::uint64_t left = rank;
  std::size_t i = 0;
  if (left >= ranks_) {
    left = (left - ranks_) % wrap_ranks_;
    i = wrap_;
  }
  while (left >= ranks_in(blocks_[i])) left -= ranks_in(blocks_[i++]);
  return NodeId{blocks_[i].first_node + static_cast<std::uint32_t>(left / blocks_[i].ranks_each)};
}

std::uint64_t NodeMap::count_on(std::uint32_t node, std::uint64_t upto) const noexcept {
  expects(!unknown(), "asking an unknown node map");
  std::uint64_t count = 0;
  const auto walk = [&](std::size_t from, std::uint64_t left) {
    for (std::size_t i = from; i < blocks_.size() && left > 0; ++i) {
      const std::uint64_t here = std::min(left, ranks_in(blocks_[i]));
      if (contains(blocks_[i], node)) {
        const std::uint64_t before = std::uint64_t{node - blocks_[i].first_node} * blocks_[i].ranks_each;
        if (here > before) count += std::min<std::uint64_t>(here - before, blocks_[i].ranks_each);
      }
      left -= here;
    }
  };
  walk(0, std::min(upto, ranks_));
  if (upto <= ranks_) return count;
  const std::uint64_t before_wrap = count;
  count = 0;
  walk(wrap_, wrap_ranks_);
  const std::uint64_t per_turn = std::exchange(count, 0);
  walk(wrap_, (upto - ranks_) % wrap_ranks_);
  return before_wrap + per_turn * ((upto - ranks_) / wrap_ranks_) + count;
}

std::uint32_t NodeMap::local_rank(std::uint32_t rank) const {
  return static_cast<std::uint32_t>(count_on(to_int(node_of(rank)), rank));
}

std::vector<std::uint32_t> NodeMap::ranks_on(NodeId node, std::uint32_t size) const {
  const std::uint64_t count = count_on(to_int(node), size);
  std::vector<std::uint32_t> ranks;
  ranks.reserve(count);
  std::uint64_t start = 0;
  for (std::size_t i = 0; ranks.size() < count; i = i + 1 == blocks_.size() ? wrap_ : i + 1) {
    const Block& block = blocks_[i];
    if (contains(block, to_int(node))) {
      const std::uint64_t first = start + std::uint64_t{to_int(node) - block.first_node} * block.ranks_each;
      for (std::uint64_t k = 0; k < block.ranks_each && ranks.size() < count; ++k) {
        ranks.push_back(static_cast<std::uint32_t>(first + k));
      }
    }
    start += ranks_in(block);
  }
  return ranks;
}

std::uint32_t NodeMap::node_count(std::uint32_t size) const {
  expects(!unknown(), "node_count() of an unknown node map");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;  // [first, end) of node ids
  std::uint64_t left = size;
  for (const Block& block : blocks_) {
    if (left == 0) break;
    const std::uint64_t here = std::min(left, ranks_in(block));
    const std::uint64_t nodes = (here + block.ranks_each - 1) / block.ranks_each;
    spans.emplace_back(block.first_node, block.first_node + nodes);
    left -= here;
  }
  std::sort(spans.begin(), spans.end());
  std::uint64_t count = 0;
  std::uint64_t covered = 0;
  for (const auto& [first, end] : spans) {
    const std::uint64_t from = std::max(first, covered);
    if (end > from) count += end - from;
    covered = std::max(covered, end);
  }
  return static_cast<std::uint32_t>(count);
}

std::string NodeMap::text() const {
  if (unknown()) return {};
  std::string text = "(vector";
  for (const Block& block : blocks_) {
    text += ",(" + std::to_string(block.first_node) + "," + std::to_string(block.node_count) + "," +
            std::to_string(block.ranks_each) + ")";
  }
  return text + ")";
}

}  // namespace starling
