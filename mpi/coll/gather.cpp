// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Gather and MPI_Gatherv. MPI 5.0 section 6.5. In the tree an inner process forwards packed
/// bytes, because it does not know the root's datatype.

#include <algorithm>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void gather_linear(Schedule& schedule, const Team& team, const Gather& asked) {
  if (team.rank != asked.root) {
    const Buffer own = region(asked.send, asked.count, asked.type);
    if (own.bytes != 0) schedule.send(asked.root, own);
    schedule.next_round();
    return;
  }
  for (int rank = 0; rank < team.size; ++rank) {
    const Buffer block = asked.receive.block(rank);
    if (rank != asked.root && block.bytes != 0) schedule.receive(rank, block);
  }
  if (!asked.in_place) {
    schedule.copy(region(asked.send, asked.count, asked.type), asked.receive.block(team.rank));
  }
  schedule.next_round();
}

void gather_binomial(Schedule& schedule, const Team& team, const Gather& asked) {
  const int n = team.size, me = around(team.rank, -asked.root, n);
  const bool root = me == 0;
  const Buffer own =
      root && asked.in_place ? asked.receive.block(team.rank) : region(asked.send, asked.count, asked.type);
  int span = 1;  // ranks of my subtree: me .. me + span - 1
  while (span < n && (me & span) == 0) span *= 2;
  const int held = std::min(span, n - me);
  std::byte* const staging =
      !root && held > 1 ? schedule.scratch(own.bytes * static_cast<std::uint64_t>(held)) : nullptr;

  struct Late {
    Buffer from, to;
  } late[2];  // the root's subtree that wraps over the last rank, received packed
  for (int mask = 1; mask < span && me + mask < n; mask *= 2) {
    const int child = around(me + mask, asked.root, n), size = std::min(mask, n - me - mask);
    const std::uint64_t bytes = own.bytes * static_cast<std::uint64_t>(size);
    if (!root) {
      schedule.receive(child, packed(staging + own.bytes * static_cast<std::uint64_t>(mask), bytes));
    } else if (child + size <= n) {
      schedule.receive(child, asked.receive.run(child, size));
    } else {
      std::byte* const wrapped = schedule.scratch(bytes);
      const Buffer high = asked.receive.run(child, n - child), low = asked.receive.run(0, size - (n - child));
      schedule.receive(child, packed(wrapped, bytes));
      late[0] = {packed(wrapped, high.bytes), high};
      late[1] = {packed(wrapped + high.bytes, low.bytes), low};
    }
  }
  if (root && !asked.in_place) schedule.copy(own, asked.receive.block(team.rank));
  if (staging != nullptr) schedule.copy(own, packed(staging, own.bytes));
  schedule.next_round();
  for (const Late& copy : late) schedule.copy(copy.from, copy.to);
  if (!root) {
    const Buffer all =
        staging != nullptr ? packed(staging, own.bytes * static_cast<std::uint64_t>(held)) : own;
    schedule.send(around(me - span, asked.root, n), all);
  }
  schedule.next_round();
}

}  // namespace starling::mpi::coll
