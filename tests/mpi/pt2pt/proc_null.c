/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_PROC_NULL is a partner that never sends and takes everything: calls return at once with an empty
 * status (MPI-4, 3.11). */
#include "check.h"

static void check_empty(const MPI_Status* status) {
  int count = -1;
  CHECK_EQ(status->MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Get_count(status, MPI_INT, &count));
  CHECK_EQ(count, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int value = 5, flag;
  MPI_Status status;
  MPI_Request request;
  OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  check_empty(&status);
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, &status));
  check_empty(&status);
  OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
  check_empty(&status);
  OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
  CHECK(flag);
  check_empty(&status);
  OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                  &status));
  check_empty(&status);
  OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  OK(MPI_Start(&request));
  OK(MPI_Wait(&request, &status));
  check_empty(&status);
  OK(MPI_Request_free(&request));
  CHECK_EQ(value, 5);
  return finish();
}
