// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Reduce_scatter and MPI_Reduce_scatter_block. MPI 5.0 section 6.10.

#include <vector>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void reduce_scatter_tree(Schedule& schedule, const Team& team, const ReduceScatter& asked) {
  const int n = team.size;
  const std::uint64_t total = asked.offset(n);
  void* const whole = team.rank == 0 ? schedule.scratch(asked.type, total) : nullptr;
  reduce_binomial(schedule, team, asked.whole(whole, total));

  Scatter scatter;
  scatter.receive = asked.receive;
  scatter.count = asked.part(team.rank);
  scatter.type = asked.type;
  if (!asked.counts) {
    scatter.send = Blocks(whole, asked.count, asked.type);
    return scatter_binomial(schedule, team, scatter);
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n));
  std::int64_t at = 0;
  for (int rank = 0; rank < n; ++rank) {
    offsets[static_cast<std::size_t>(rank)] = at;
    at += static_cast<std::int64_t>(asked.part(rank));
  }
  scatter.send = Blocks(whole, asked.counts, Ints{nullptr, offsets.data()}, asked.type);
  scatter_linear(schedule, team, scatter);
}

void reduce_scatter_pairwise(Schedule& schedule, const Team& team, const ReduceScatter& asked) {
  const int n = team.size, me = team.rank;
  const Type& type = asked.type;
  const void* const operand = asked.in_place ? asked.receive : asked.send;
  const std::uint64_t mine = asked.part(me);
  schedule.set_reduction(asked.operation, type);
  std::vector<std::uint64_t> offsets(static_cast<std::size_t>(n));
  std::uint64_t sum = 0;
  for (int rank = 0; rank < n; ++rank) {
    offsets[static_cast<std::size_t>(rank)] = sum;
    sum += asked.part(rank);
  }
  const auto part = [&](int rank) { return element(operand, offsets[static_cast<std::size_t>(rank)], type); };
  // In place the result lies over operands that are still to be sent.
  void* const total = asked.in_place ? schedule.scratch(type, mine) : asked.receive;
  void* const staging = n > 2 ? schedule.scratch(type, mine) : nullptr;
  if (n == 1) schedule.copy(region(part(me), mine, type), region(asked.receive, mine, type));
  for (int step = 1; step < n; ++step) {
    const int to = around(me, step, n), from = around(me, -step, n);
    void* const landing = step == 1 ? total : staging;
    if (mine != 0) schedule.receive(from, region(landing, mine, type));
    if (asked.part(to) != 0) schedule.send(to, region(part(to), asked.part(to), type));
    schedule.next_round();
    schedule.reduce(step == 1 ? part(me) : static_cast<const std::byte*>(landing), total, mine);
    schedule.next_round();
  }
  schedule.next_round();
  if (n > 1) schedule.copy(region(total, mine, type), region(asked.receive, mine, type));
  schedule.next_round();
}

}  // namespace starling::mpi::coll
