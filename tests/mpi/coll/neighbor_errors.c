/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives need a topology and cannot work in place; a communicator stays usable after an
 * error (MPI-4, 8.6). */
#include "coll.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size(), yes = 1, negative[2] = {1, -1}, places[2] = {0, 1};
  int data[2] = {world_rank(), -1}, got[2];
  MPI_Comm ring;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Neighbor_allgather(data, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Neighbor_alltoall(data, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring));
  OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Neighbor_alltoall(data, -1, MPI_INT, got, 1, MPI_INT, ring), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Neighbor_allgather(data, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, ring), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Neighbor_alltoallv(data, negative, places, MPI_INT, got, negative, places, MPI_INT, ring),
              MPI_ERR_COUNT);
#if MPI_VERSION >= 5
  CHECK_ERROR(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, ring), MPI_ERR_BUFFER);
  CHECK_ERROR(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, got, 1, MPI_INT, ring), MPI_ERR_BUFFER);
#endif
  OK(MPI_Neighbor_allgather(data, 1, MPI_INT, got, 1, MPI_INT, ring));
  CHECK_EQ(got[0], (world_rank() + size - 1) % size);
  CHECK_EQ(got[1], (world_rank() + 1) % size);
  OK(MPI_Comm_free(&ring));
  return finish();
}
