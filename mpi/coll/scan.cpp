// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Scan and MPI_Exscan by doubling distances: what arrives always lies directly below what is
/// there, so rank order holds. MPI 5.0 section 6.11.

#include "mpi/coll/builders.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

/// Prefix over ranks first..n-1 of the values that the folds hold.
void prefix(Schedule& schedule, const Team& team, int first, Fold& fold) {
  const int n = team.size, me = team.rank;
  for (int step = 1; step < n - first; step *= 2) {
    const Buffer out = fold.buffer();
    const bool receives = me - step >= first;
    if (receives) schedule.receive(me - step, fold.landing(true));
    if (me < n - step) schedule.send(me + step, out);
    schedule.next_round();
    if (receives) fold.prepend();
    schedule.next_round();
    if (step > n / 2) break;  // keeps step * 2 in range
  }
  fold.finish();
}

}  // namespace

void scan_doubling(Schedule& schedule, const Team& team, const Reduce& asked) {
  schedule.set_reduction(asked.operation, asked.type);
  Fold fold(schedule, asked.type, asked.count, asked.in_place ? asked.receive : asked.send, asked.receive);
  prefix(schedule, team, 0, fold);
}

void exscan_doubling(Schedule& schedule, const Team& team, const Reduce& asked) {
  schedule.set_reduction(asked.operation, asked.type);
  const Buffer own = region(asked.in_place ? asked.receive : asked.send, asked.count, asked.type);
  if (team.rank == 0) {  // its receive buffer is not significant and stays as it is
    if (team.size > 1) schedule.send(1, own);
    schedule.next_round();
    return;
  }
  // Everybody takes over the value of the rank below; what follows is an inclusive scan over ranks 1..n-1.
  void* const start = asked.in_place ? schedule.scratch(asked.type, asked.count) : asked.receive;
  schedule.receive(team.rank - 1, region(start, asked.count, asked.type));
  if (team.rank + 1 < team.size) schedule.send(team.rank + 1, own);
  schedule.next_round();
  Fold fold = asked.in_place ? Fold::from_scratch(schedule, asked.type, asked.count, start, asked.receive)
                             : Fold(schedule, asked.type, asked.count, start, asked.receive);
  prefix(schedule, team, 1, fold);
}

}  // namespace starling::mpi::coll
