// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Blocking collectives over several nodes, whose parts inside a node go over its boards. Layer: mpi.
/// docs/design/collectives.md
///
/// A node whose members have no board for a call does its parts by messages (mpi/coll/nodes.cpp), which is
/// nothing that other nodes notice.
///
/// Threads: as NodeTeam. Errors: as NodeTeam; a speaker tells what it has learnt to its node, and the others.

#include <optional>

#include "mpi/launch/launch.hpp"

namespace starling::mpi::coll::several_nodes {

/// What the call returns; nothing where it goes by messages or stays within a node.
[[nodiscard]] std::optional<int> barrier(const Form& form, Comm& comm);
[[nodiscard]] std::optional<int> bcast(const Form& form, Comm& comm, const Bcast& asked);
[[nodiscard]] std::optional<int> reduce(const Form& form, Comm& comm, const Reduce& asked);
[[nodiscard]] std::optional<int> allreduce(const Form& form, Comm& comm, const Reduce& asked);

/// Equal blocks, of nodes in the order of ranks.
[[nodiscard]] std::optional<int> allgather(const Form& form, Comm& comm, const Gather& asked);
/// Equal blocks, not in place.
[[nodiscard]] std::optional<int> alltoall(const Form& form, Comm& comm, const Alltoall& asked);
/// Equal parts.
[[nodiscard]] std::optional<int> reduce_scatter(const Form& form, Comm& comm, const ReduceScatter& asked);
[[nodiscard]] std::optional<int> scan(const Form& form, Comm& comm, const Reduce& asked);
[[nodiscard]] std::optional<int> exscan(const Form& form, Comm& comm, const Reduce& asked);

}  // namespace starling::mpi::coll::several_nodes
