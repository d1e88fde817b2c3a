// SPDX-License-Identifier: BSD-3-Clause
/// @file  Whom each kind of topology makes neighbours. docs/design/topology.md

#include "mpi/topology/topology.hpp"

namespace starling::mpi {
namespace {

/// MPI_PROC_NULL beyond the end of a dimension.
std::vector<int> around(const topology::Grid& grid, int rank) {
  std::vector<int> result;
  for (int d = 0; d < grid.dimensions(); ++d) {
    result.push_back(grid.beyond(rank, d, -1).value_or(coll::kNobody));
    result.push_back(grid.beyond(rank, d, +1).value_or(coll::kNobody));
  }
  return result;
}

}  // namespace

Topology::Topology(topology::Grid grid, int rank)
    : shape_(std::move(grid)), around_(around(*this->grid(), rank)), neighbors_{around_, around_, true} {}

Topology::Topology(topology::Graph graph, int rank) : shape_(std::move(graph)) {
  neighbors_ = {this->graph()->neighbors(rank), this->graph()->neighbors(rank), false};
}

Topology::Topology(topology::Adjacency adjacency) : shape_(std::move(adjacency)) {
  neighbors_ = {this->adjacency()->sources, this->adjacency()->destinations, false};
}

}  // namespace starling::mpi
