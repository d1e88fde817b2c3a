// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocks whose sizes only their two ends know, over several nodes: what travels with others of a
/// node, and how long its messages are. Layer: mpi. docs/design/collectives.md
///
/// Units: bytes.

#include <algorithm>
#include <cstdint>

#include "mpi/coll/hierarchy.hpp"

namespace starling::mpi::coll {

/// Short blocks travel with others of their node; both ends of a block compute which. A longer block goes
/// alone: two more copies cost more than its message. The limit falls with the number of members on a node:
/// one member would copy for all what they can send at once.
class Together {
 public:
  explicit Together(const Hierarchy& hierarchy) noexcept : most_(most_bytes(hierarchy)) {}
  [[nodiscard]] static std::uint64_t most_bytes(const Hierarchy& hierarchy) noexcept {
    constexpr std::uint64_t kOfNode = 16384, kLeast = 64, kMost = 1024;
    return std::clamp(kOfNode / static_cast<std::uint64_t>(hierarchy.widest()), kLeast, kMost);
  }
  [[nodiscard]] bool alone(std::uint64_t bytes) const noexcept { return bytes > most_; }
  /// What a block adds to the node's message.
  [[nodiscard]] std::uint64_t part(std::uint64_t bytes) const noexcept { return alone(bytes) ? 0 : bytes; }

 private:
  std::uint64_t most_;
};

}  // namespace starling::mpi::coll
