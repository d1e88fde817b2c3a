/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives posted earlier are matched earlier: a wildcard and a specific receive compete by the order of
 * their posting (MPI-4, 3.5). np: 2+ */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  if (me == 1) {
    int values[4] = {-1, -1, -1, -1};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    OK(MPI_Irecv(&values[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Irecv(&values[2], 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Irecv(&values[3], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(4, requests, statuses));
    /* Sent: tag 8 (10), tag 7 (11), tag 7 (12), tag 7 (13). */
    CHECK_EQ(values[0], 11);
    CHECK_EQ(values[1], 10);
    CHECK_EQ(values[2], 12);
    CHECK_EQ(values[3], 13);
    CHECK_EQ(statuses[1].MPI_TAG, 8);
    CHECK_EQ(statuses[2].MPI_TAG, 7);
  } else {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
      for (int i = 0; i < 4; ++i) {
        const int value = 10 + i;
        OK(MPI_Send(&value, 1, MPI_INT, 1, i == 0 ? 8 : 7, MPI_COMM_WORLD));
      }
    }
  }
  return finish();
}
