// SPDX-License-Identifier: BSD-3-Clause
// Asking a Cartesian communicator, and any for its kind of topology. Layer: mpi.
// MPI 5.0 sections 8.5.5, 8.5.6.

#include "mpi/api.gen.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/topology/attach.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::api {
namespace {

using topology::Grid;

/// MPI_SUCCESS if `maxdims` entries hold a value for each dimension. Fewer would leave out some in silence.
int check_room(const Grid& grid, int maxdims) {
  if (maxdims >= grid.dimensions()) return MPI_SUCCESS;
  return error(
      MPI_ERR_ARG,
      unexpected("maxdims", maxdims, std::to_string(grid.dimensions()) + " or more, the grid's dimensions"));
}

int check_result(const Grid& grid, const char* name, const int* result) {
  return check::bad_array(name, result, static_cast<std::uint32_t>(grid.dimensions()));
}

void put_coordinates(const Grid& grid, int rank, int coords[]) {
  const std::vector<int> here = grid.coordinates(rank);
  for (std::size_t d = 0; d < here.size(); ++d) coords[d] = here[d];
}

}  // namespace

int Topo_test(Comm& comm, int* status) {
  *status = MPI_UNDEFINED;
  if (grid_of(comm) != nullptr) *status = MPI_CART;
  if (graph_of(comm) != nullptr) *status = MPI_GRAPH;
  if (adjacency_of(comm) != nullptr) *status = MPI_DIST_GRAPH;
  return MPI_SUCCESS;
}

int Cartdim_get(Comm& comm, int* ndims) {
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  *ndims = grid->dimensions();
  return MPI_SUCCESS;
}

int Cart_get(Comm& comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  if (const int rc = check_room(*grid, maxdims); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_result(*grid, "dims", dims); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_result(*grid, "periods", periods); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_result(*grid, "coords", coords); rc != MPI_SUCCESS) return rc;
  for (int d = 0; d < grid->dimensions(); ++d) {
    dims[d] = grid->length(d);
    periods[d] = grid->periodic(d) ? 1 : 0;
  }
  put_coordinates(*grid, static_cast<int>(comm.rank()), coords);
  return MPI_SUCCESS;
}

int Cart_coords(Comm& comm, int rank, int maxdims, int coords[]) {
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  if (rank < 0 || rank >= grid->size()) {
    return error(MPI_ERR_RANK, unexpected("rank", rank, "0.." + std::to_string(grid->size() - 1)));
  }
  if (const int rc = check_room(*grid, maxdims); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_result(*grid, "coords", coords); rc != MPI_SUCCESS) return rc;
  put_coordinates(*grid, rank, coords);
  return MPI_SUCCESS;
}

int Cart_rank(Comm& comm, const int coords[], int* rank) {
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  if (const int rc = check_result(*grid, "coords", coords); rc != MPI_SUCCESS) return rc;
  const auto found = grid->rank_at({coords, static_cast<std::size_t>(grid->dimensions())});
  if (!found) return error(MPI_ERR_ARG, "coords lies outside a dimension of the grid that is not periodic");
  *rank = *found;
  return MPI_SUCCESS;
}

int Cart_shift(Comm& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Grid* const grid = grid_of(comm);
  if (grid == nullptr) return wrong_topology("Cartesian");
  if (direction < 0 || direction >= grid->dimensions()) {
    return error(MPI_ERR_DIMS,
                 unexpected("direction", direction,
                            "less than the grid's " + std::to_string(grid->dimensions()) + " dimensions"));
  }
  const int rank = static_cast<int>(comm.rank());
  const std::int64_t distance = disp;  // its negative always exists
  *rank_source = grid->beyond(rank, direction, -distance).value_or(MPI_PROC_NULL);
  *rank_dest = grid->beyond(rank, direction, distance).value_or(MPI_PROC_NULL);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
