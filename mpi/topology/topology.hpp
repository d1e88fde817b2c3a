// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The virtual topology of a communicator. Layer: mpi. MPI 5.0 chapter 8. docs/design/topology.md
///
/// Threads:   immutable after construction; any.
/// Ownership: shared by a communicator and its duplicates.
/// Ordering:  the neighbours are in the order of section 8.6, which is that of the blocks of neighbourhood
///            collectives.

#include <variant>

#include "mpi/coll/arguments.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/topology/graph.hpp"
#include "mpi/topology/grid.hpp"

namespace starling::mpi {

class Topology final {
 public:
  /// `rank` is that of the calling process.
  Topology(topology::Grid grid, int rank);
  Topology(topology::Graph graph, int rank);
  explicit Topology(topology::Adjacency adjacency);
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// Null for another kind of topology.
  [[nodiscard]] const topology::Grid* grid() const noexcept { return std::get_if<topology::Grid>(&shape_); }
  [[nodiscard]] const topology::Graph* graph() const noexcept {
    return std::get_if<topology::Graph>(&shape_);
  }
  [[nodiscard]] const topology::Adjacency* adjacency() const noexcept {
    return std::get_if<topology::Adjacency>(&shape_);
  }
  /// Whom the calling process receives from and sends to; borrowed from this object.
  [[nodiscard]] const coll::Neighbors& neighbors() const noexcept { return neighbors_; }

 private:
  std::variant<topology::Grid, topology::Graph, topology::Adjacency> shape_;
  std::vector<int> around_;  ///< of a grid: two neighbours for each dimension
  coll::Neighbors neighbors_;
};

}  // namespace starling::mpi
