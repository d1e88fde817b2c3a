// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Chooses the algorithm and fills the schedule: the front door of the collectives. Layer: mpi.
///
/// The choice depends only on what is equal on all processes. Parameters override it (mpi/coll/params.hpp),
/// and have to be equal on all processes as well.
///
/// Threads: pure functions on their arguments. Errors: Schedule::ok().

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/schedule.hpp"
#include "mpi/coll/tuning.hpp"

namespace starling::mpi::coll {

/// Whether the tables choose the algorithm that goes by nodes; of blocks, for equal ones.
[[nodiscard]] bool by_nodes(const Team& team, const Tuning& tuning, Collective which, const Facts& facts);
/// Of an allreduce that goes by nodes: whether several members of each speak.
[[nodiscard]] bool by_parts(const Team& team, const Tuning& tuning, const Facts& facts);
/// Of a scan or exscan.
[[nodiscard]] bool prefix_by_nodes(const Team& team);

void barrier(Schedule& schedule, const Team& team);
void bcast(Schedule& schedule, const Team& team, const Tuning& tuning, const Bcast& asked);
void reduce(Schedule& schedule, const Team& team, const Tuning& tuning, const Reduce& asked);
void allreduce(Schedule& schedule, const Team& team, const Tuning& tuning, const Reduce& asked);
/// gather: all blocks have one size. gatherv: only the root knows them.
void gather(Schedule& schedule, const Team& team, const Tuning& tuning, const Gather& asked);
void gatherv(Schedule& schedule, const Team& team, const Gather& asked);
void scatter(Schedule& schedule, const Team& team, const Tuning& tuning, const Scatter& asked);
void scatterv(Schedule& schedule, const Team& team, const Scatter& asked);
/// These look at Blocks::uniform() and serve the v (and w) forms, too.
void allgather(Schedule& schedule, const Team& team, const Tuning& tuning, const Gather& asked);
void alltoall(Schedule& schedule, const Team& team, const Tuning& tuning, const Alltoall& asked);
/// Neighbourhoods have one algorithm: every process knows its own neighbours only.
void neighbor_allgather(Schedule& schedule, const Neighbors& neighbors, const Gather& asked);
void neighbor_alltoall(Schedule& schedule, const Neighbors& neighbors, const Alltoall& asked);
void scan(Schedule& schedule, const Team& team, const Reduce& asked);
void exscan(Schedule& schedule, const Team& team, const Reduce& asked);
void reduce_scatter(Schedule& schedule, const Team& team, const Tuning& tuning, const ReduceScatter& asked);

}  // namespace starling::mpi::coll
