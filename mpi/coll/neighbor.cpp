// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Neighbor_allgather(v) and MPI_Neighbor_alltoall(v, w). MPI 5.0 sections 8.6, 8.7.
///
/// What is hard: several messages between the same two processes. They match in the order in which they are
/// posted. Of a graph both processes list their common edges in one order. In a grid with one or two
/// processes along a periodic dimension the process before is also the one behind; it receives from before,
/// then from behind, so what is sent forwards has to leave first. An empty block is not sent: both sides
/// agree on its size.

#include "mpi/coll/select.hpp"

namespace starling::mpi::coll {
namespace {

/// `block_to(i)` is what destination i is sent.
template <class BlockTo>
void exchange(Schedule& schedule, const Neighbors& neighbors, const Blocks& receive, BlockTo&& block_to) {
  for (std::size_t i = 0; i < neighbors.sources.size(); ++i) {
    if (neighbors.sources[i] == kNobody) continue;
    const Buffer where = receive.block(static_cast<int>(i));
    if (where.bytes != 0) schedule.receive(neighbors.sources[i], where);
  }
  for (std::size_t n = 0; n < neighbors.destinations.size(); ++n) {
    const std::size_t i = neighbors.grid ? n ^ 1u : n;  // behind (odd) before the one before (even)
    if (neighbors.destinations[i] == kNobody) continue;
    const Buffer what = block_to(static_cast<int>(i));
    if (what.bytes != 0) schedule.send(neighbors.destinations[i], what);
  }
  schedule.next_round();
}

}  // namespace

void neighbor_allgather(Schedule& schedule, const Neighbors& neighbors, const Gather& asked) {
  const Buffer own = region(asked.send, asked.count, asked.type);
  exchange(schedule, neighbors, asked.receive, [&](int) { return own; });
}

void neighbor_alltoall(Schedule& schedule, const Neighbors& neighbors, const Alltoall& asked) {
  exchange(schedule, neighbors, asked.receive, [&](int i) { return asked.send.block(i); });
}

}  // namespace starling::mpi::coll
