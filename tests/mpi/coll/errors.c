/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments are errors of the right class, and the communicator stays usable (MPI-4, 6.2.2, 9.3). */
#include "coll.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size();
  int data[4] = {1, 2, 3, 4}, more[64];
  double real = 1, result;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* for the null communicator */
  CHECK_ERROR(MPI_Bcast(data, 4, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Bcast(data, 4, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Bcast(data, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Bcast(data, 4, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Allreduce(&real, &result, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_ERROR(MPI_Allreduce(data, more, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_ERROR(MPI_Reduce(data, more, 4, MPI_INT, MPI_SUM, size + 3, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Gather(data, 1, MPI_INT, more, 1, MPI_INT, -5, MPI_COMM_WORLD), MPI_ERR_ROOT);
  int sum = 0;
  OK(MPI_Allreduce(data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, size);
  return finish();
}
