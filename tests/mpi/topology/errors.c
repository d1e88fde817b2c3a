/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about a topology that is not there, and wrong arguments that every MPI notices (MPI-4, 8.5). */
#include "check.h"

static void no_topology(MPI_Comm comm) {
  int a = 0, b = 0, c = 0, array[8] = {0};
  MPI_Comm slice;
  CHECK_ERROR(MPI_Cartdim_get(comm, &a), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Cart_rank(comm, array, &a), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Cart_coords(comm, 0, 1, array), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Cart_shift(comm, 0, 1, &a, &b), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Cart_sub(comm, array, &slice), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Graphdims_get(comm, &a, &b), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Graph_get(comm, 1, 1, array, array), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Graph_neighbors_count(comm, 0, &a), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Graph_neighbors(comm, 0, 1, array), MPI_ERR_TOPOLOGY);
  CHECK_ERROR(MPI_Dist_graph_neighbors_count(comm, &a, &b, &c), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size(), too_many[2] = {size, 2}, periods[2] = {0, 0}, ends[1] = {0};
  int dims[2] = {0, 0}, status;
  MPI_Comm comm = MPI_COMM_NULL;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* for the null communicator */
  no_topology(MPI_COMM_WORLD);
  CHECK_ERROR(MPI_Topo_test(MPI_COMM_NULL, &status), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_NULL, 1, too_many, periods, 0, &comm), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, -1, too_many, periods, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 2, too_many, periods, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Graph_create(MPI_COMM_WORLD, size + 1, ends, ends, 0, &comm), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG);
  dims[0] = 3;
  CHECK_ERROR(MPI_Dims_create(4, 2, dims), MPI_ERR_DIMS);
  dims[0] = -1;
  CHECK_ERROR(MPI_Dims_create(4, 2, dims), MPI_ERR_DIMS);
  int number = 0;
  OK(MPI_Comm_size(MPI_COMM_WORLD, &number)); /* the communicator is still good */
  CHECK_EQ(number, size);
  return finish();
}
