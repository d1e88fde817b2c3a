// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocks whose sizes only sender and receiver know, on a board. Layer: mpi. MPI 5.0 sections 6.5
/// and 6.8. docs/design/node-collectives.md
///
/// Members cannot agree on a number of rounds, so it is always one: each block's size, and the block itself
/// where it fits. A block that does not fit follows in a message; its sender and its receiver, who has read
/// the size, know that, and nobody else has to.
/// Threads: one per member. Ownership: buffers are the caller's.
/// Errors:  see BlocksLeft. Units: bytes.

#include <cstdint>
#include <vector>

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

/// What became of the blocks.
struct BlocksLeft {
  bool complete = true;   ///< false: a member has died; nothing else counts then
  Difference unequal;     ///< a member whose block has another length than is expected: what fits is taken
  std::vector<int> from;  ///< whose block is still to be received by a message
  std::vector<int> to;    ///< to whom one is still to be sent
  [[nodiscard]] bool messages() const noexcept { return !from.empty() || !to.empty(); }
};

[[nodiscard]] BlocksLeft gatherv(Board& board, const Gather& asked);
/// Not in place.
[[nodiscard]] BlocksLeft alltoallv(Board& board, const Alltoall& asked);

/// The least room that a member's cell needs for a block to each of the others.
[[nodiscard]] constexpr std::size_t least_blocks_cell(std::uint32_t members) noexcept {
  return 32 * std::size_t{members};
}

}  // namespace starling::mpi::coll::node
