// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Allgather and MPI_Allgatherv. MPI 5.0 section 6.7. All processes know the packed size of every
/// block.

#include <algorithm>
#include <vector>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

Buffer own_block(const Team& team, const Gather& asked) {
  return asked.in_place ? asked.receive.block(team.rank) : region(asked.send, asked.count, asked.type);
}

}  // namespace

void allgather_ring(Schedule& schedule, const Team& team, const Gather& asked) {
  const int n = team.size, me = team.rank;
  const int right = around(me, 1, n), left = around(me, -1, n);
  const Buffer own = own_block(team, asked);
  if (!asked.in_place) schedule.copy(own, asked.receive.block(me));
  for (int step = 0; step < n - 1; ++step) {
    const Buffer out = step == 0 ? own : asked.receive.block(around(me, -step, n));
    const Buffer in = asked.receive.block(around(me, -step - 1, n));
    if (in.bytes != 0) schedule.receive(left, in);
    if (out.bytes != 0) schedule.send(right, out);
    schedule.next_round();
  }
  schedule.next_round();
}

void allgather_recursive_doubling(Schedule& schedule, const Team& team, const Gather& asked) {
  const int n = team.size, me = team.rank;
  const Buffer own = own_block(team, asked);
  if (!asked.in_place) schedule.copy(own, asked.receive.block(me));
  for (int mask = 1; mask < n; mask *= 2) {
    const int partner = me ^ mask;
    const int mine = me & ~(mask - 1), theirs = partner & ~(mask - 1);
    schedule.receive(partner, asked.receive.run(theirs, mask));
    schedule.send(partner, mask == 1 ? own : asked.receive.run(mine, mask));
    schedule.next_round();
  }
  schedule.next_round();
}

void allgather_bruck(Schedule& schedule, const Team& team, const Gather& asked) {
  const int n = team.size, me = team.rank;
  const Buffer own = own_block(team, asked);
  // Slot j of the staging area holds block (me + j) mod n.
  std::vector<std::uint64_t> slots(static_cast<std::size_t>(n) + 1, 0);
  const auto slot = [&](int j) -> std::uint64_t& { return slots[static_cast<std::size_t>(j)]; };
  for (int j = 0; j < n; ++j) slot(j + 1) = slot(j) + asked.receive.bytes(around(me, j, n));
  std::byte* const staging = schedule.scratch(slot(n));
  const auto run = [&](int first, int count) {
    return packed(staging + slot(first), slot(first + count) - slot(first));
  };
  schedule.copy(own, run(0, 1));
  schedule.next_round();
  for (int step = 1; step < n; step *= 2) {
    const int count = std::min(step, n - step);
    const Buffer in = run(step, count), out = run(0, count);
    if (in.bytes != 0) schedule.receive(around(me, step, n), in);
    if (out.bytes != 0) schedule.send(around(me, -step, n), out);
    schedule.next_round();
    if (step > n / 2) break;  // keeps step * 2 in range
  }
  if (asked.receive.uniform()) {
    schedule.copy(run(0, n - me), asked.receive.run(me, n - me));
    if (me > 0) schedule.copy(run(n - me, me), asked.receive.run(0, me));
  } else {
    for (int j = asked.in_place ? 1 : 0; j < n; ++j) {
      schedule.copy(run(j, 1), asked.receive.block(around(me, j, n)));
    }
  }
  schedule.next_round();
}

}  // namespace starling::mpi::coll
