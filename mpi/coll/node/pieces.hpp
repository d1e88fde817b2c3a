// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Part of a buffer's packed bytes to and from a cell, and which cells in which order. Layer: mpi.
/// Threads: any. Units: bytes.

#include <cstddef>
#include <cstdint>

#include "core/copy.hpp"
#include "frameworks/pml/layout.hpp"
#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

inline void put(const pml::Buffer& from, std::uint64_t offset, std::byte* cell, std::size_t bytes) noexcept {
  if (bytes == 0) return;  // `offset` may lie behind a block that is shorter than others
  if (from.layout == nullptr) {
    copy_first_line_last(cell, static_cast<const std::byte*>(from.base) + offset, bytes);
  } else {
    from.layout->pack(from.base, from.count, offset, cell, bytes);
  }
}

inline void take(const pml::Buffer& to, std::uint64_t offset, const std::byte* cell,
                 std::size_t bytes) noexcept {
  if (bytes == 0) return;
  if (to.layout == nullptr) {
    copy_payload(static_cast<std::byte*>(to.base) + offset, cell, bytes);
  } else {
    to.layout->unpack(to.base, to.count, offset, cell, bytes);
  }
}

/// The other members, in an order in which not all begin with the same one; ends at the first false.
template <class Visit>
bool each_other(const Board& board, Visit visit) {
  for (std::uint32_t step = 1; step < board.size(); ++step) {
    const std::uint32_t member = board.me() + step;
    if (!visit(member < board.size() ? member : member - board.size())) return false;
  }
  return true;
}

/// Where one member reads all others and they read nobody, the first of several rounds tells them whether
/// more follow. All have to count the same rounds, and one whose length differs may expect a single one.
enum class Round : std::uint8_t { only, first_of_several, later };

/// The reader's part: waits for all, then posts, for those who wait to go on, whether all agree.
[[nodiscard]] inline bool told_all(Board& board) {
  if (!each_other(board, [&](std::uint32_t member) { return board.read(member) != nullptr; })) return false;
  if (board.cell() == nullptr) return false;
  board.post();
  return true;
}

/// Shares of a cell begin at multiples of it.
inline constexpr std::uint64_t kShareUnit = 16;

/// Bytes of a cell that each of the members may have.
[[nodiscard]] inline std::size_t share(const Board& board) noexcept {
  return board.capacity() / board.size() & ~(kShareUnit - 1);
}
/// The smallest cell whose shares hold `bytes` in all; each of the `members` has at least one byte.
[[nodiscard]] constexpr std::uint64_t cell_for_shares(std::uint64_t bytes, std::uint64_t members) noexcept {
  const std::uint64_t each = (bytes + members - 1) / members;
  return members * ((each + kShareUnit - 1) & ~(kShareUnit - 1));
}

}  // namespace starling::mpi::coll::node
