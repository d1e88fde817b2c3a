// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Communicators with a topology: making them, asking them. Layer: mpi. MPI 5.0 chapter 8.
///
/// Threads: under the runtime's lock.
/// Errors:  MPI error classes (mpi/error.hpp).

#include <memory>
#include <string>

#include "mpi.h"
#include "mpi/creation/factory.hpp"
#include "mpi/topology/topology.hpp"

namespace starling::mpi {

/// The first `count` members of `parent`, in its order; by all members of `parent`.
[[nodiscard]] Made first_members(Comm& parent, int count);

/// Hands the user what was made; `topology` is not looked at where no communicator was.
[[nodiscard]] int give(const Made& made, std::shared_ptr<const Topology> topology, MPI_Comm* newcomm);

/// MPI_ERR_TOPOLOGY: `comm` has no topology, or another kind than the `expected` one.
[[nodiscard]] int wrong_topology(const char* expected);
/// MPI_ERR_COMM.
[[nodiscard]] int no_intracommunicator(const char* argument);
/// "name is 5, expected what".
[[nodiscard]] std::string unexpected(const std::string& name, long long value, const std::string& what);
/// "name[3]"
[[nodiscard]] std::string element(const char* array, std::size_t index);

// The topology of a communicator, or null if it has none of this kind.
[[nodiscard]] inline const topology::Grid* grid_of(const Comm& comm) noexcept {
  return comm.topology ? comm.topology->grid() : nullptr;
}
[[nodiscard]] inline const topology::Graph* graph_of(const Comm& comm) noexcept {
  return comm.topology ? comm.topology->graph() : nullptr;
}
[[nodiscard]] inline const topology::Adjacency* adjacency_of(const Comm& comm) noexcept {
  return comm.topology ? comm.topology->adjacency() : nullptr;
}

}  // namespace starling::mpi
