// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Barrier by dissemination: after round k each process has heard of 2^(k+1) processes. MPI 5.0
/// section 6.3.

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void barrier_dissemination(Schedule& schedule, const Team& team) {
  for (int step = 1; step < team.size; step *= 2) {
    schedule.receive(around(team.rank, -step, team.size), packed(nullptr, 0));
    schedule.send(around(team.rank, step, team.size), packed(nullptr, 0));
    schedule.next_round();
    if (step > team.size / 2) break;  // keeps step * 2 in range
  }
}

}  // namespace starling::mpi::coll
