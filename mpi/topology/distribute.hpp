// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Brings the edges of a graph, which any process may have named, to their ends. Layer: mpi.
/// MPI 5.0 section 8.5.4. docs/design/topology.md
///
/// Threads: under the runtime's lock, which waiting releases.
/// Errors:  MPI error classes (mpi/error.hpp), the same at all processes unless a message failed.

#include "mpi/comm/comm.hpp"
#include "mpi/topology/graph.hpp"

namespace starling::mpi::topology {

struct Distributed {
  int error_class = 0;
  Adjacency adjacency;
};

/// By all members of `comm`, each with the edges that it was given; whether edges have weights must be the
/// same at all.
[[nodiscard]] Distributed distribute(Comm& comm, std::span<const Edge> edges, bool weighted);

}  // namespace starling::mpi::topology
