// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of the collectives: which algorithm, where the table's choice is not wanted. Layer: mpi.
///
/// The order of the choices is that of the algorithms in select.cpp. An algorithm that cannot do what is
/// asked (a non-commutative operation, a number of ranks that is no power of two) is passed over for that
/// call.

#include <array>
#include <cstdint>

#include "params/decl.hpp"

namespace starling::mpi::coll {

inline constexpr params::Decl kBcastAlgorithm = params::equal_everywhere(
    params::choice("coll_bcast_algorithm", "auto", "auto|binomial|scatter_ring|chain|nodes",
                   "Algorithm of MPI_Bcast: a tree for small messages, scatter and ring or a pipeline of "
                   "segments for large ones; or by nodes, then inside each."));
inline constexpr params::Decl kReduceAlgorithm = params::equal_everywhere(params::choice(
    "coll_reduce_algorithm", "auto", "auto|binomial|ring|nodes",
    "Algorithm of MPI_Reduce: a tree, or for large vectors a ring in which every process reduces one part."));
inline constexpr params::Decl kAllreduceAlgorithm = params::equal_everywhere(params::choice(
    "coll_allreduce_algorithm", "auto", "auto|recursive_doubling|rabenseifner|ring|nodes|parts",
    "Algorithm of MPI_Allreduce: fewest messages, fewest bytes in log(n) rounds, or a ring; over several "
    "nodes one process of each, or several with a part of the vector each."));
inline constexpr params::Decl kGatherAlgorithm = params::equal_everywhere(params::choice(
    "coll_gather_algorithm", "auto", "auto|binomial|linear|nodes",
    "Algorithm of MPI_Gather: a tree for small blocks, one message from each process for large ones."));
inline constexpr params::Decl kScatterAlgorithm = params::equal_everywhere(params::choice(
    "coll_scatter_algorithm", "auto", "auto|binomial|linear|nodes",
    "Algorithm of MPI_Scatter: a tree for small blocks, one message to each process for large ones."));
inline constexpr params::Decl kAllgatherAlgorithm = params::equal_everywhere(
    params::choice("coll_allgather_algorithm", "auto", "auto|recursive_doubling|bruck|ring|nodes",
                   "Algorithm of MPI_Allgather and, without recursive_doubling, of MPI_Allgatherv."));
inline constexpr params::Decl kAlltoallAlgorithm = params::equal_everywhere(
    params::choice("coll_alltoall_algorithm", "auto", "auto|bruck|linear|pairwise|nodes",
                   "Algorithm of MPI_Alltoall and, without bruck, of MPI_Alltoallv and MPI_Alltoallw."));
inline constexpr params::Decl kReduceScatterAlgorithm = params::equal_everywhere(
    params::choice("coll_reduce_scatter_algorithm", "auto", "auto|tree|pairwise|nodes",
                   "Algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block."));

inline constexpr params::Decl kCollRules = params::equal_everywhere(
    params::text("coll_rules", "",
                 "Algorithms for some calls, before what coll_<name>_algorithm and the library's tables say: "
                 "rules separated "
                 "by commas, of which the first that fits counts, like "
                 "allreduce:ring:ranks=3-64:bytes=64k-:commutative or "
                 "bcast:auto:bytes=-4k. Conditions are ranks, bytes, commutative, ordered."));

inline constexpr params::Decl kCollNode = params::equal_everywhere(params::boolean(
    "coll_node", "1",
    "Blocking collectives of a communicator inside one node go through memory that its members "
    "share, where no other parameter names an algorithm."));

inline constexpr params::Decl kCollHierarchy = params::equal_everywhere(params::choice(
    "coll_hierarchy", "auto", "auto|off",
    "Collectives of a communicator over several nodes: inside each node, and then among one process of each, "
    "where the tables say so; or as if each process were on a node of its own."));

inline constexpr params::Decl kCollNodeTotal = params::size_bytes(
    "coll_node_total_bytes", "64m", 0, std::int64_t{1} << 42,
    "No more memory for collectives is taken while this much of the node's shared memory is in use; "
    "communicators that come too late use messages.");

inline constexpr params::Decl kCollNodeFamily = params::equal_everywhere(params::integer(
    "coll_node_family", "0", 0, 256,
    "How many members of a communicator inside one node read each other's memory directly in a collective; "
    "more meet in families of that size at most. 0: 8, or 64 where processes share cores."));

/// In the order of Collective.
inline constexpr std::array kCollAlgorithms = {
    kBcastAlgorithm,   kReduceAlgorithm,    kAllreduceAlgorithm, kGatherAlgorithm,
    kScatterAlgorithm, kAllgatherAlgorithm, kAlltoallAlgorithm,  kReduceScatterAlgorithm};
inline constexpr std::array kCollParams = {
    kBcastAlgorithm,     kReduceAlgorithm,   kAllreduceAlgorithm,     kGatherAlgorithm, kScatterAlgorithm,
    kAllgatherAlgorithm, kAlltoallAlgorithm, kReduceScatterAlgorithm, kCollRules,       kCollNode,
    kCollHierarchy,      kCollNodeTotal,     kCollNodeFamily};

}  // namespace starling::mpi::coll
