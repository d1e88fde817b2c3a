// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The algorithms: each fills a schedule for one process. Layer: mpi. docs/design/collectives.md
///
/// A builder decides from values that are equal on all processes (ranks, packed bytes, commutativity, root),
/// so that the schedules of all processes fit together. Names: <collective>_<algorithm>. Limits stand beside
/// the name; the choice among them is mpi/coll/select.hpp's.
///
/// Threads: any; no state. Errors: Schedule::ok().

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll {

void barrier_dissemination(Schedule& schedule, const Team& team);

void bcast_binomial(Schedule& schedule, const Team& team, const Bcast& asked);
/// Scatter down a binomial tree, then a ring: every process sends and receives each byte about once.
void bcast_scatter_ring(Schedule& schedule, const Team& team, const Bcast& asked);
/// A pipeline of segments through all ranks in order.
void bcast_chain(Schedule& schedule, const Team& team, const Bcast& asked);

/// Any operation: a tree whose subtrees are runs of ranks; of a non-commutative one rank 0 is the tree's
/// root.
void reduce_binomial(Schedule& schedule, const Team& team, const Reduce& asked);
/// Commutative only: each process reduces one part of the vector, the root collects the parts.
void reduce_ring(Schedule& schedule, const Team& team, const Reduce& asked);

void allreduce_recursive_doubling(Schedule& schedule, const Team& team, const Reduce& asked);
/// Commutative only: recursive halving, then doubling. Thakur, Rabenseifner, Gropp 2005.
void allreduce_rabenseifner(Schedule& schedule, const Team& team, const Reduce& asked);
/// Commutative only: reduce_scatter and allgather around a ring.
void allreduce_ring(Schedule& schedule, const Team& team, const Reduce& asked);

void gather_linear(Schedule& schedule, const Team& team, const Gather& asked);
/// Equal blocks only (not gatherv: only the root knows the sizes).
void gather_binomial(Schedule& schedule, const Team& team, const Gather& asked);
void scatter_linear(Schedule& schedule, const Team& team, const Scatter& asked);
void scatter_binomial(Schedule& schedule, const Team& team, const Scatter& asked);

void allgather_ring(Schedule& schedule, const Team& team, const Gather& asked);
/// log2(n) rounds with staging. Bruck et al. 1997.
void allgather_bruck(Schedule& schedule, const Team& team, const Gather& asked);
/// Equal blocks and a power of two of ranks only; no staging.
void allgather_recursive_doubling(Schedule& schedule, const Team& team, const Gather& asked);

void alltoall_pairwise(Schedule& schedule, const Team& team, const Alltoall& asked);
/// Many messages at once, a window of ranks per round.
void alltoall_linear(Schedule& schedule, const Team& team, const Alltoall& asked);
/// Equal blocks only: log2(n) rounds, each block travels up to log2(n) times.
void alltoall_bruck(Schedule& schedule, const Team& team, const Alltoall& asked);
/// In place: one exchange per round with one block of staging.
void alltoall_in_place(Schedule& schedule, const Team& team, const Alltoall& asked);

void scan_doubling(Schedule& schedule, const Team& team, const Reduce& asked);
void exscan_doubling(Schedule& schedule, const Team& team, const Reduce& asked);

/// Any operation: reduce to rank 0, then scatter.
void reduce_scatter_tree(Schedule& schedule, const Team& team, const ReduceScatter& asked);
/// Commutative only: each process receives its own block from every other.
void reduce_scatter_pairwise(Schedule& schedule, const Team& team, const ReduceScatter& asked);

// Over several nodes, by Team::hierarchy: in each node, then among the speakers of the nodes, then in each
// node.
void barrier_nodes(Schedule& schedule, const Team& team);
void bcast_nodes(Schedule& schedule, const Team& team, const Bcast& asked);
/// These keep the order of the operands if the hierarchy is ordered().
void reduce_nodes(Schedule& schedule, const Team& team, const Reduce& asked);
void allreduce_nodes(Schedule& schedule, const Team& team, const Reduce& asked);
/// Long vectors, cut into as many parts as the smallest node has members: one member of each node combines
/// each part.
void allreduce_parts(Schedule& schedule, const Team& team, const Reduce& asked);
void reduce_scatter_nodes(Schedule& schedule, const Team& team, const ReduceScatter& asked);
/// Only if the hierarchy is ordered().
void scan_nodes(Schedule& schedule, const Team& team, const Reduce& asked);
void exscan_nodes(Schedule& schedule, const Team& team, const Reduce& asked);
/// One message between two nodes for all their blocks. Equal blocks only (gather, scatter).
void allgather_nodes(Schedule& schedule, const Team& team, const Gather& asked);
void gather_nodes(Schedule& schedule, const Team& team, const Gather& asked);
void scatter_nodes(Schedule& schedule, const Team& team, const Scatter& asked);
/// Blocks whose sizes only their two ends know: long ones are messages of their own.
void gatherv_nodes(Schedule& schedule, const Team& team, const Gather& asked);
void scatterv_nodes(Schedule& schedule, const Team& team, const Scatter& asked);
/// All forms. Equal blocks go in one message between two nodes whatever their length; of other blocks only
/// the short ones do.
void alltoall_nodes(Schedule& schedule, const Team& team, const Alltoall& asked);

// Intercommunicators: linear, since the processes of one group can speak to those of the other only.
void inter_barrier(Schedule& schedule, const Team& team);
void inter_bcast(Schedule& schedule, const Team& team, const Bcast& asked);
void inter_reduce(Schedule& schedule, const Team& team, const Reduce& asked);
void inter_allreduce(Schedule& schedule, const Team& team, const Reduce& asked);
void inter_gather(Schedule& schedule, const Team& team, const Gather& asked);
void inter_scatter(Schedule& schedule, const Team& team, const Scatter& asked);
void inter_allgather(Schedule& schedule, const Team& team, const Gather& asked);
void inter_alltoall(Schedule& schedule, const Team& team, const Alltoall& asked);
void inter_reduce_scatter(Schedule& schedule, const Team& team, const ReduceScatter& asked);

}  // namespace starling::mpi::coll
