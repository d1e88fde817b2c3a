// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Scatter and MPI_Scatterv. MPI 5.0 section 6.6. The mirror image of gather.cpp.

#include <algorithm>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void scatter_linear(Schedule& schedule, const Team& team, const Scatter& asked) {
  const Buffer own = region(asked.receive, asked.count, asked.type);
  if (team.rank != asked.root) {
    if (own.bytes != 0) schedule.receive(asked.root, own);
    schedule.next_round();
    return;
  }
  for (int rank = 0; rank < team.size; ++rank) {
    const Buffer block = asked.send.block(rank);
    if (rank != asked.root && block.bytes != 0) schedule.send(rank, block);
  }
  if (!asked.in_place) schedule.copy(asked.send.block(team.rank), own);
  schedule.next_round();
}

void scatter_binomial(Schedule& schedule, const Team& team, const Scatter& asked) {
  const int n = team.size, me = around(team.rank, -asked.root, n);
  const bool root = me == 0;
  const Buffer own = root ? asked.send.block(team.rank) : region(asked.receive, asked.count, asked.type);
  int span = 1;
  while (span < n && (me & span) == 0) span *= 2;
  const int held = std::min(span, n - me);
  std::byte* const staging =
      !root && held > 1 ? schedule.scratch(own.bytes * static_cast<std::uint64_t>(held)) : nullptr;
  if (!root) {
    schedule.receive(
        around(me - span, asked.root, n),
        staging != nullptr ? packed(staging, own.bytes * static_cast<std::uint64_t>(held)) : own);
    schedule.next_round();
  }
  std::byte* wrapped = nullptr;  // the root's subtree that wraps over the last rank is sent packed
  for (int mask = span / 2; mask > 0 && root; mask /= 2) {
    const int child = around(me + mask, asked.root, n), size = std::min(mask, n - me - mask);
    if (me + mask >= n || child + size <= n) continue;
    const Buffer high = asked.send.run(child, n - child), low = asked.send.run(0, size - (n - child));
    wrapped = schedule.scratch(high.bytes + low.bytes);
    schedule.copy(high, packed(wrapped, high.bytes));
    schedule.copy(low, packed(wrapped + high.bytes, low.bytes));
    schedule.next_round();
  }
  for (int mask = span / 2; mask > 0; mask /= 2) {
    if (me + mask >= n) continue;
    const int child = around(me + mask, asked.root, n), size = std::min(mask, n - me - mask);
    const std::uint64_t bytes = own.bytes * static_cast<std::uint64_t>(size);
    if (!root) {
      schedule.send(child, packed(staging + own.bytes * static_cast<std::uint64_t>(mask), bytes));
    } else {
      schedule.send(child, child + size <= n ? asked.send.run(child, size) : packed(wrapped, bytes));
    }
  }
  if (root && !asked.in_place) schedule.copy(own, region(asked.receive, asked.count, asked.type));
  if (staging != nullptr) schedule.copy(packed(staging, own.bytes), own);
  schedule.next_round();
}

}  // namespace starling::mpi::coll
