/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive that matches nothing can be cancelled; a cancelled one takes no message, one that was matched
 * is not cancelled any more (MPI-4, 3.8.4). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request request;
  MPI_Status status;
  int value = -1, flag;

  for (int i = 0; i < 100; ++i) {
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    CHECK(request == MPI_REQUEST_NULL);
  }

  /* The message goes to the second receive, though the cancelled one was posted first. */
  MPI_Request later;
  int first = -1, second = -1;
  OK(MPI_Irecv(&first, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &request));
  OK(MPI_Irecv(&second, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &later));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  value = 42;
  OK(MPI_Send(&value, 1, MPI_INT, me, 1, MPI_COMM_WORLD));
  OK(MPI_Wait(&later, &status));
  CHECK_EQ(first, -1);
  CHECK_EQ(second, 42);
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);

  /* Matched before the cancel: it completes as if nothing had happened. */
  OK(MPI_Irecv(&first, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &request));
  OK(MPI_Send(&value, 1, MPI_INT, me, 2, MPI_COMM_WORLD));
  do OK(MPI_Request_get_status(request, &flag, &status));
  while (!flag);
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);
  CHECK_EQ(first, 42);
  return finish();
}
