/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_ANY_SOURCE and MPI_ANY_TAG take any message of the communicator and say which it was; a specific
 * receive leaves the others alone (MPI-4, 3.2.4). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Request* sends = malloc(3 * sizeof(MPI_Request));
  int values[3];
  for (int k = 0; k < 3; ++k) {
    values[k] = me * 10 + k;
    OK(MPI_Isend(&values[k], 1, MPI_INT, 0, 100 + k, MPI_COMM_WORLD, &sends[k]));
  }
  if (me == 0) {
    char* seen = calloc((size_t)size, 1);
    MPI_Status status;
    int value;
    for (int i = 0; i < size; ++i) { /* the middle tag from anybody */
      OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 101, MPI_COMM_WORLD, &status));
      CHECK_EQ(status.MPI_TAG, 101);
      CHECK_EQ(value, status.MPI_SOURCE * 10 + 1);
      CHECK_EQ(seen[status.MPI_SOURCE]++, 0);
    }
    for (int from = size - 1; from >= 0; --from) { /* any tag from one: the two that are left, in order */
      OK(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      CHECK_EQ(status.MPI_TAG, 100);
      CHECK_EQ(status.MPI_SOURCE, from);
      CHECK_EQ(value, from * 10);
    }
    for (int i = 0; i < size; ++i) {
      OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      CHECK_EQ(status.MPI_TAG, 102);
      CHECK_EQ(value, status.MPI_SOURCE * 10 + 2);
    }
    free(seen);
  }
  OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
  free(sends);
  return finish();
}
