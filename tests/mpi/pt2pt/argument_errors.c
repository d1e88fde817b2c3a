/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments are errors of the right class, and the call has no other effect (MPI-4, 9.4, 3.2). */
#include "check.h"

/* Large twins: counts that are none, and those whose bytes 64 bits count as none or as those of one. */
static void large_counts(void) {
#if MPI_VERSION >= 4
  const MPI_Count wrong[] = {-1, (MPI_Count)1 << 62, ((MPI_Count)1 << 62) + 1};
  int value = 0;
  MPI_Request request;
  for (int i = 0; i < 3; ++i) {
    CHECK_ERROR(MPI_Send_c(&value, wrong[i], MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Irecv_c(&value, wrong[i], MPI_INT, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Recv_c(&value, wrong[i], MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Bcast_c(&value, wrong[i], MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  }
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size();
  int value = 0, flag, index;
  MPI_Request request;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, -17, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_ERROR(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  large_counts();
  CHECK_ERROR(MPI_Irecv(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
  /* Errors without a usable communicator go to the world's handler (MPI_COMM_SELF's since MPI-4). */
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK(MPI_Startall(1, NULL) != MPI_SUCCESS);
  CHECK(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
  CHECK(MPI_Waitany(1, NULL, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  CHECK(MPI_Testall(1, NULL, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
  OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  return finish();
}
