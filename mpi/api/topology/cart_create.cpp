// SPDX-License-Identifier: BSD-3-Clause
// Making Cartesian communicators; ranks stay as they are, which `reorder` allows. Layer: mpi.
// MPI 5.0 sections 8.5.1, 8.5.6, 8.5.7.

#include "mpi/api.gen.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/topology/attach.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::api {
namespace {

using topology::Grid;

/// MPI_SUCCESS if the arguments describe a grid that the members of `comm` can fill.
int check_grid(const char* name, const Comm& comm, int ndims, const int dims[], const int periods[]) {
  if (comm.inter()) return no_intracommunicator(name);
  const auto count = static_cast<std::uint32_t>(ndims);
  if (const int rc = check::bad_array("dims", dims, count); rc != MPI_SUCCESS) return rc;
  if (const int rc = check::bad_array("periods", periods, count); rc != MPI_SUCCESS) return rc;
  for (std::size_t d = 0; d < count; ++d) {
    if (dims[d] <= 0) return error(MPI_ERR_DIMS, unexpected(element("dims", d), dims[d], "1 or more"));
  }
  const int most = static_cast<int>(comm.size());
  if (topology::volume({dims, count}, most)) return MPI_SUCCESS;
  return error(MPI_ERR_ARG, "the grid of dims has more positions than the communicator processes, " +
                                std::to_string(most));
}

Grid grid_from(int ndims, const int dims[], const int periods[]) {
  std::vector<int> lengths;
  std::vector<bool> periodic;
  for (int d = 0; d < ndims; ++d) {
    lengths.push_back(dims[d]);
    periodic.push_back(periods[d] != 0);
  }
  return {std::move(lengths), std::move(periodic)};
}

}  // namespace

int Cart_create(Comm& comm_old, int ndims, const int dims[], const int periods[], int, MPI_Comm* comm_cart) {
  *comm_cart = MPI_COMM_NULL;
  const int rc = check_grid("comm_old", comm_old, ndims, dims, periods);
  if (rc != MPI_SUCCESS) return rc;
  const Grid grid = grid_from(ndims, dims, periods);
  const int rank = static_cast<int>(comm_old.rank());
  std::shared_ptr<const Topology> topology;
  if (rank < grid.size()) topology = std::make_shared<Topology>(grid, rank);
  return give(first_members(comm_old, grid.size()), std::move(topology), comm_cart);
}

int Cart_map(Comm& comm, int ndims, const int dims[], const int periods[], int* newrank) {
  const int rc = check_grid("comm", comm, ndims, dims, periods);
  if (rc != MPI_SUCCESS) return rc;
  const int rank = static_cast<int>(comm.rank());
  *newrank = rank < grid_from(ndims, dims, periods).size() ? rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Cart_sub(Comm& comm, const int remain_dims[], MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  const auto count = static_cast<std::uint32_t>(grid->dimensions());
  if (const int rc = check::bad_array("remain_dims", remain_dims, count); rc != MPI_SUCCESS) return rc;
  std::vector<bool> kept;
  for (std::size_t d = 0; d < count; ++d) kept.push_back(remain_dims[d] != 0);
  Grid::Slice slice = grid->slice(static_cast<int>(comm.rank()), kept);
  auto topology = std::make_shared<Topology>(std::move(slice.grid), slice.rank);
  return give(CommFactory::split(comm, slice.number, slice.rank), std::move(topology), newcomm);
}

}  // namespace starling::mpi::api
