// SPDX-License-Identifier: BSD-3-Clause
/// @file  Collectives over several nodes: what members of a node do among themselves, and what one speaker
/// of each node does among the speakers. Every part is a collective of its own, chosen by the tables. Layer:
/// mpi. docs/design/collectives.md

#include "mpi/coll/nodes.hpp"
#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/select.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

/// Empty messages up a tree of the node to member `head`.
void arrive(Schedule& schedule, const Team& local, int head) {
  const int n = local.size, me = around(local.rank, -head, n);
  int mask = 1;
  for (; mask < n && (me & mask) == 0; mask *= 2) {
    if (me + mask < n) schedule.receive(around(me + mask, head, n), packed(nullptr, 0));
  }
  schedule.next_round();
  if (me != 0) schedule.send(around(me - mask, head, n), packed(nullptr, 0));
}

}  // namespace

void barrier_nodes(Schedule& schedule, const Team& team) {
  const Levels levels(*team.hierarchy, team.rank);
  {
    const Among local_peers(schedule, levels.local_peers);
    arrive(schedule, levels.local, levels.head);
  }
  if (levels.speaks()) {
    const Among speakers(schedule, levels.speakers);
    barrier_dissemination(schedule, levels.across);
  }
  const Among local_peers(schedule, levels.local_peers);
  Bcast leave;
  leave.root = levels.head;
  bcast_binomial(schedule, levels.local, leave);
}

void bcast_nodes(Schedule& schedule, const Team& team, const Bcast& asked) {
  const Levels levels(*team.hierarchy, team.rank, asked.root);
  Bcast part = asked;
  if (levels.speaks()) {
    const Among speakers(schedule, levels.speakers);
    part.root = levels.root_node;
    bcast(schedule, levels.across, {}, part);
  }
  const Among local_peers(schedule, levels.local_peers);
  part.root = levels.head;
  bcast(schedule, levels.local, {}, part);
}

void reduce_nodes(Schedule& schedule, const Team& team, const Reduce& asked) {
  const Levels levels(*team.hierarchy, team.rank, asked.root);
  const bool root = team.rank == asked.root;
  void* const result = root              ? asked.receive
                       : levels.speaks() ? schedule.scratch(asked.type, asked.count)
                                         : nullptr;
  {
    const Among local_peers(schedule, levels.local_peers);
    reduce(schedule, levels.local, {}, reduction_in_node(levels, asked, asked.in_place && root, result));
  }
  if (!levels.speaks()) return;
  const Among speakers(schedule, levels.speakers);
  reduce(schedule, levels.across, {}, reduction_across(levels, asked, result));
}

void allreduce_nodes(Schedule& schedule, const Team& team, const Reduce& asked) {
  const Levels levels(*team.hierarchy, team.rank);
  {
    const Among local_peers(schedule, levels.local_peers);
    reduce(schedule, levels.local, {}, reduction_in_node(levels, asked, asked.in_place, asked.receive));
  }
  if (levels.speaks()) {
    const Among speakers(schedule, levels.speakers);
    allreduce(schedule, levels.across, {}, allreduction_across(asked));
  }
  const Among local_peers(schedule, levels.local_peers);
  bcast(schedule, levels.local, {}, Bcast{asked.receive, asked.count, asked.type, levels.head});
}

}  // namespace starling::mpi::coll
