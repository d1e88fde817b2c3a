// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocking collectives of processes that share a board. Layer: mpi. docs/design/node-collectives.md
///
/// All members call the same function with arguments that agree as MPI demands; how many rounds it takes
/// follows from what is equal everywhere (packed bytes, members, capacity).
///
/// Threads: one per member. Ownership: buffers are the caller's.
/// Errors:  false: a member has died; the buffers' contents are undefined.

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

[[nodiscard]] bool barrier(Board& board);
/// Its halves: member `head` knows that all have come; all know it.
[[nodiscard]] bool arrive(Board& board, std::uint32_t head);
[[nodiscard]] bool leave(Board& board, std::uint32_t head);
[[nodiscard]] bool bcast(Board& board, const Bcast& asked);
/// Instead of it at a root that has nothing to give because processes elsewhere disagree.
[[nodiscard]] bool bcast_nothing(Board& board);
/// Reductions of dense types only: see dense(). All processes get the same bits from allreduce, and operands
/// are combined in rank order unless the operation commutes.
[[nodiscard]] bool reduce(Board& board, const Reduce& asked);
/// Instead of it at a root that has no memory for the result; who waits for it hears that there is a fault.
[[nodiscard]] bool reduce_nothing(Board& board, const Reduce& asked);
[[nodiscard]] bool allreduce(Board& board, const Reduce& asked);
/// Longer vectors go by messages: the last member combines all of them, which takes longer than a tree does.
inline constexpr std::uint64_t kMostScanned = 16 << 10;  // bytes
[[nodiscard]] bool scan(Board& board, const Reduce& asked);
[[nodiscard]] bool exscan(Board& board, const Reduce& asked);
/// A cell holds an element for each member at least.
[[nodiscard]] bool reduce_scatter(Board& board, const ReduceScatter& asked);
/// Blocks of equal size.
[[nodiscard]] bool gather(Board& board, const Gather& asked);
[[nodiscard]] bool scatter(Board& board, const Scatter& asked);
/// Blocks of any sizes, which all know.
[[nodiscard]] bool allgather(Board& board, const Gather& asked);
/// As above; `nothing`: this member has heard elsewhere that processes disagree, and says so.
[[nodiscard]] bool allgather(Board& board, const Gather& asked, bool nothing);
/// Blocks of equal size, not in place.
[[nodiscard]] bool alltoall(Board& board, const Alltoall& asked);

/// Elements that follow each other without gaps: a vector of them is one run of bytes.
[[nodiscard]] inline bool dense(const Type& type) noexcept {
  return type.contiguous && type.true_lb == 0 && type.size != 0 &&
         type.extent == static_cast<std::int64_t>(type.size);
}

}  // namespace starling::mpi::coll::node
