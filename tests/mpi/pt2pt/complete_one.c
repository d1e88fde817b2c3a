/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wait, MPI_Test, MPI_Request_get_status and MPI_Request_free (MPI-4, 3.7.3, 3.7.6). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request request = MPI_REQUEST_NULL, send;
  MPI_Status status;
  int value = -1, flag = 0, count = -1;

  /* The null request is complete, with an empty status. */
  OK(MPI_Wait(&request, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  OK(MPI_Test(&request, &flag, &status));
  CHECK(flag);
  flag = 0;
  OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(flag);

  /* A receive without a message. */
  OK(MPI_Irecv(&value, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &request));
  for (int i = 0; i < 50; ++i) {
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    CHECK(request != MPI_REQUEST_NULL);
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag);
  }
  int out = 7;
  OK(MPI_Isend(&out, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &send));
  OK(MPI_Request_free(&send)); /* the message goes its way all the same */
  CHECK(send == MPI_REQUEST_NULL);

  /* Asking for the status does not consume the request. */
  do OK(MPI_Request_get_status(request, &flag, &status));
  while (!flag);
  CHECK_EQ(status.MPI_SOURCE, me);
  CHECK_EQ(status.MPI_TAG, 3);
  CHECK(request != MPI_REQUEST_NULL);
  OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
  OK(MPI_Test(&request, &flag, &status));
  CHECK(flag);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQ(value, 7);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 1);
  return finish();
}
