// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw. MPI 5.0 section 6.8. An empty block is not sent:
/// sender and receiver agree on its size.

#include <algorithm>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

/// Ranks that are exchanged with at once: enough to hide latency, few enough to keep queues short.
constexpr int kWindow = 32;

void exchange(Schedule& schedule, const Team& team, const Alltoall& asked, int step) {
  const int to = around(team.rank, step, team.size), from = around(team.rank, -step, team.size);
  const Buffer in = asked.receive.block(from), out = asked.send.block(to);
  if (in.bytes != 0) schedule.receive(from, in);
  if (out.bytes != 0) schedule.send(to, out);
}

}  // namespace

void alltoall_pairwise(Schedule& schedule, const Team& team, const Alltoall& asked) {
  schedule.set_direct();
  schedule.copy(asked.send.block(team.rank), asked.receive.block(team.rank));
  for (int step = 1; step < team.size; ++step) {
    exchange(schedule, team, asked, step);
    schedule.next_round();
  }
  schedule.next_round();
}

void alltoall_linear(Schedule& schedule, const Team& team, const Alltoall& asked) {
  schedule.set_direct();
  schedule.copy(asked.send.block(team.rank), asked.receive.block(team.rank));
  for (int first = 1; first < team.size; first += kWindow) {
    for (int step = first; step < std::min(first + kWindow, team.size); ++step) {
      exchange(schedule, team, asked, step);
    }
    schedule.next_round();
  }
  schedule.next_round();
}

void alltoall_bruck(Schedule& schedule, const Team& team, const Alltoall& asked) {
  const int n = team.size, me = team.rank;
  const std::uint64_t block = asked.receive.bytes(0);
  // Slot j holds a block that has j ranks to travel upwards.
  std::byte* const slots = schedule.scratch(block * static_cast<std::uint64_t>(n));
  std::byte* const out = schedule.scratch(block * static_cast<std::uint64_t>(n / 2 + 1));
  std::byte* const in = schedule.scratch(block * static_cast<std::uint64_t>(n / 2 + 1));
  const auto slot = [&](int j, int count) {
    return packed(slots + block * static_cast<std::uint64_t>(j), block * static_cast<std::uint64_t>(count));
  };
  schedule.copy(asked.send.run(me, n - me), slot(0, n - me));
  if (me > 0) schedule.copy(asked.send.run(0, me), slot(n - me, me));
  for (int step = 1; step < n; step *= 2) {
    std::uint64_t moved = 0;
    for (int j = step; j < n; j += 2 * step) {
      const Buffer run = slot(j, std::min(step, n - j));
      schedule.copy(run, packed(out + moved, run.bytes));
      moved += run.bytes;
    }
    schedule.next_round();
    schedule.receive(around(me, -step, n), packed(in, moved));
    schedule.send(around(me, step, n), packed(out, moved));
    schedule.next_round();
    moved = 0;
    for (int j = step; j < n; j += 2 * step) {
      const Buffer run = slot(j, std::min(step, n - j));
      schedule.copy(packed(in + moved, run.bytes), run);
      moved += run.bytes;
    }
    if (step > n / 2) break;  // keeps step * 2 in range
  }
  for (int j = 0; j < n; ++j) schedule.copy(slot(j, 1), asked.receive.block(around(me, -j, n)));
  schedule.next_round();
}

void alltoall_in_place(Schedule& schedule, const Team& team, const Alltoall& asked) {
  schedule.set_direct();
  const int n = team.size, me = team.rank;
  std::uint64_t largest = 0;
  for (int rank = 0; rank < n; ++rank) largest = std::max(largest, asked.receive.bytes(rank));
  std::byte* const staging = schedule.scratch(largest);
  // In round k the partners are those whose ranks add up to k: both block (me -> partner) and its answer
  // change at once.
  for (int sum = 0; sum < n; ++sum) {
    const int partner = (sum - me + n) % n;
    const Buffer block = asked.receive.block(partner);
    if (partner == me || block.bytes == 0) continue;
    schedule.copy(block, packed(staging, block.bytes));
    schedule.next_round();
    schedule.receive(partner, block);
    schedule.send(partner, packed(staging, block.bytes));
    schedule.next_round();
  }
}

}  // namespace starling::mpi::coll
