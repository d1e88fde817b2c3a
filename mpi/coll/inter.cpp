// SPDX-License-Identifier: BSD-3-Clause
/// @file  Collectives of intercommunicators. MPI 5.0 section 6.2.3. A process can send to the remote group
/// only, so what one group has to share among itself takes a detour: from its rank 0 to the other group's
/// rank 0, and back to all.

#include <vector>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/fold.hpp"

namespace starling::mpi::coll {
namespace {

/// The remote group's vectors, folded in rank order, at this process.
void fold_remote(Schedule& schedule, const Team& team, const Reduce& asked, void* result) {
  schedule.set_reduction(asked.operation, asked.type);
  schedule.receive(0, region(result, asked.count, asked.type));
  schedule.next_round();
  Fold fold(schedule, asked.type, asked.count, result, result);
  for (int rank = 1; rank < team.remote; ++rank) {
    schedule.receive(rank, fold.landing(false));
    schedule.next_round();
    fold.append();
    schedule.next_round();
  }
  fold.finish();
}

}  // namespace

void inter_barrier(Schedule& schedule, const Team& team) {
  const Buffer nothing = packed(nullptr, 0);
  schedule.send(0, nothing);
  if (team.rank != 0) {
    schedule.receive(0, nothing);
    schedule.next_round();
    return;
  }
  for (int rank = 0; rank < team.remote; ++rank) schedule.receive(rank, nothing);
  schedule.next_round();
  // The remote group has arrived; its rank 0 says that ours has, and the remote processes learn it from us.
  schedule.send(0, nothing);
  schedule.receive(0, nothing);
  schedule.next_round();
  for (int rank = 1; rank < team.remote; ++rank) schedule.send(rank, nothing);
  schedule.next_round();
}

void inter_bcast(Schedule& schedule, const Team& team, const Bcast& asked) {
  const Buffer buffer = region(asked.buffer, asked.count, asked.type);
  if (asked.root == kRootHere) {
    for (int rank = 0; rank < team.remote; ++rank) schedule.send(rank, buffer);
  } else if (asked.root != kNoPart) {
    schedule.receive(asked.root, buffer);
  }
  schedule.next_round();
}

void inter_reduce(Schedule& schedule, const Team& team, const Reduce& asked) {
  if (asked.root == kRootHere) {
    fold_remote(schedule, team, asked, asked.receive);
  } else if (asked.root != kNoPart) {
    schedule.send(asked.root, region(asked.send, asked.count, asked.type));
    schedule.next_round();
  }
}

void inter_allreduce(Schedule& schedule, const Team& team, const Reduce& asked) {
  const Buffer result = region(asked.receive, asked.count, asked.type);
  schedule.send(0, region(asked.send, asked.count, asked.type));
  if (team.rank != 0) {
    schedule.receive(0, result);
    schedule.next_round();
    return;
  }
  fold_remote(schedule, team, asked, asked.receive);
  // What we have is for our own group; the remote rank 0 passes it on, and we pass on what it has.
  const Buffer theirs = region(schedule.scratch(asked.type, asked.count), asked.count, asked.type);
  schedule.receive(0, theirs);
  schedule.send(0, result);
  schedule.next_round();
  for (int rank = 1; rank < team.remote; ++rank) schedule.send(rank, theirs);
  schedule.next_round();
}

void inter_gather(Schedule& schedule, const Team& team, const Gather& asked) {
  if (asked.root == kRootHere) {
    for (int rank = 0; rank < team.remote; ++rank) {
      const Buffer block = asked.receive.block(rank);
      if (block.bytes != 0) schedule.receive(rank, block);
    }
  } else if (asked.root != kNoPart) {
    const Buffer own = region(asked.send, asked.count, asked.type);
    if (own.bytes != 0) schedule.send(asked.root, own);
  }
  schedule.next_round();
}

void inter_scatter(Schedule& schedule, const Team& team, const Scatter& asked) {
  if (asked.root == kRootHere) {
    for (int rank = 0; rank < team.remote; ++rank) {
      const Buffer block = asked.send.block(rank);
      if (block.bytes != 0) schedule.send(rank, block);
    }
  } else if (asked.root != kNoPart) {
    const Buffer own = region(asked.receive, asked.count, asked.type);
    if (own.bytes != 0) schedule.receive(asked.root, own);
  }
  schedule.next_round();
}

void inter_allgather(Schedule& schedule, const Team& team, const Gather& asked) {
  const Buffer own = region(asked.send, asked.count, asked.type);
  for (int rank = 0; rank < team.remote; ++rank) {
    const Buffer block = asked.receive.block(rank);
    if (block.bytes != 0) schedule.receive(rank, block);
    if (own.bytes != 0) schedule.send(rank, own);
  }
  schedule.next_round();
}

void inter_alltoall(Schedule& schedule, const Team& team, const Alltoall& asked) {
  for (int rank = 0; rank < team.remote; ++rank) {
    const Buffer in = asked.receive.block(rank), out = asked.send.block(rank);
    if (in.bytes != 0) schedule.receive(rank, in);
    if (out.bytes != 0) schedule.send(rank, out);
  }
  schedule.next_round();
}

void inter_reduce_scatter(Schedule& schedule, const Team& team, const ReduceScatter& asked) {
  Reduce all;  // nobody knows how the other group divides its result, so each process gets all of it
  all.send = asked.send;
  all.count = asked.offset(team.size);
  all.receive = schedule.scratch(asked.type, all.count);
  all.type = asked.type;
  all.operation = asked.operation;
  inter_allreduce(schedule, team, all);
  const std::uint64_t mine = asked.part(team.rank);
  schedule.copy(region(element(all.receive, asked.offset(team.rank), asked.type), mine, asked.type),
                region(asked.receive, mine, asked.type));
  schedule.next_round();
}

}  // namespace starling::mpi::coll
