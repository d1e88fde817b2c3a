// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The boards that a communicator may have: how many cells of which size. Layer: mpi.
/// docs/design/node-collectives.md
///
/// Many cells let a root that broadcasts, or a member that gives to a reduction, run ahead of the others;
/// large ones take a long buffer in few rounds. Cells hold a power of two of bytes beside their word, since
/// lengths often are one, and stand at distances that are none, so that they do not meet in the same sets of
/// a cache.
///
/// Threads: values. Errors: none. Units: bytes.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

class Shapes {
 public:
  /// A board's place in the order of cells.
  using Index = std::size_t;
  static constexpr Index kBoards = 4, kSmall = 0;

  Shapes() = default;
  /// `members`: 2 to 256.
  explicit constexpr Shapes(std::size_t members) noexcept {
    for (Index i = 0; i < kBoards; ++i) {
      const Kind& kind = kKinds[i];
      const std::size_t fair = std::bit_floor(kind.all / members);  // of each member
      const bool last = i + 1 == kBoards;
      // Of many members the last board has smaller cells, the others fewer, as long as that is of use.
      const std::size_t bytes = last ? std::min(kind.bytes, fair / kind.cells) : kind.bytes;
      const std::size_t cells = last ? kind.cells : std::min(kind.cells, fair / bytes);
      if (cells >= kind.cells || cells > kKinds[kBoards - 1].cells)
        boards_[i] = {static_cast<std::uint32_t>(cells), bytes + kBeside};
    }
  }

  [[nodiscard]] constexpr const BoardMemory::Shape& operator[](Index index) const noexcept {
    return boards_[index];
  }
  /// The first board that takes `bytes` in one round, else the last.
  [[nodiscard]] constexpr Index for_bytes(std::uint64_t bytes) const noexcept {
    Index index = kSmall;
    while (index + 1 < kBoards && bytes > boards_[index].capacity()) ++index;
    return index;
  }

 private:
  struct Kind {
    std::size_t cells, bytes;
    std::size_t all;  // what the cells of all members may take, about
  };
  static constexpr std::array<Kind, kBoards> kKinds{{
      {kMostCells, 128, std::size_t{256} * kMostCells * 128},  // nearly twice as many fit in, beside a word
      {kMostCells, 2048, std::size_t{2} << 20},
      {16, 16384, std::size_t{4} << 20},
      {4, std::size_t{64} << 10, std::size_t{4} << 20},
  }};
  static constexpr std::size_t kBeside = 128;  // for the word, and so that distances are no powers of two
  std::array<BoardMemory::Shape, kBoards> boards_{};  // one without capacity is none
};

}  // namespace starling::mpi::coll::node
