// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Reduce. MPI 5.0 section 6.9.1: of a non-commutative operation the operands stay in rank order,
/// which holds in a tree over unrotated ranks because every subtree is a run of ranks.

#include "mpi/coll/builders.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/ring.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void reduce_binomial(Schedule& schedule, const Team& team, const Reduce& asked) {
  const int n = team.size;
  const int top = asked.operation.commutative ? asked.root : 0;
  const int me = around(team.rank, -top, n);
  const bool root = team.rank == asked.root;
  const void* const own = root && asked.in_place ? asked.receive : asked.send;
  schedule.set_reduction(asked.operation, asked.type);

  int mask = 1;
  if (me + 1 < n && me % 2 == 0) {  // has at least one child
    Fold fold(schedule, asked.type, asked.count, own, root ? asked.receive : nullptr);
    for (; mask < n && (me & mask) == 0; mask <<= 1) {
      if (me + mask >= n) continue;
      schedule.receive(around(me + mask, top, n), fold.landing(false));
      schedule.next_round();
      fold.append();
      schedule.next_round();  // the next operand may land where this reduction reads
    }
    if (me != 0) {
      schedule.send(around(me - mask, top, n), fold.buffer());
      schedule.next_round();
    } else if (root) {
      fold.finish();
    } else {
      schedule.send(asked.root, fold.buffer());
      schedule.next_round();
    }
  } else if (me != 0) {
    while ((me & mask) == 0) mask <<= 1;
    schedule.send(around(me - mask, top, n), region(own, asked.count, asked.type));
    schedule.next_round();
  } else {
    schedule.copy(region(own, asked.count, asked.type), region(asked.receive, asked.count, asked.type));
    schedule.next_round();
  }
  if (root && me != 0) {
    schedule.receive(top, region(asked.receive, asked.count, asked.type));
    schedule.next_round();
  }
}

void reduce_ring(Schedule& schedule, const Team& team, const Reduce& asked) {
  const int n = team.size;
  const bool root = team.rank == asked.root;
  schedule.set_reduction(asked.operation, asked.type);
  void* const result = root ? asked.receive : schedule.scratch(asked.type, asked.count);
  ring_reduce_scatter(schedule, team, asked, root && asked.in_place, result);
  const Split split{asked.count, n};
  const auto part = [&](int owner) {
    const int index = around(owner, 1, n);
    return region(element(result, split.begin(index), asked.type), split.size(index), asked.type);
  };
  if (!root) {
    schedule.send(asked.root, part(team.rank));
  } else {
    for (int rank = 0; rank < n; ++rank) {
      if (rank != team.rank) schedule.receive(rank, part(rank));
    }
  }
  schedule.next_round();
}

}  // namespace starling::mpi::coll
