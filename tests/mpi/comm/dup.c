/* SPDX-License-Identifier: BSD-3-Clause */
/* A duplicate has the same members and another context: messages never cross, not even by wildcards
 * (MPI-4, 7.4.2, 7.1.3). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  MPI_Comm copies[3];
  MPI_Request requests[4];
  int out[4], got, rank, number, result;
  MPI_Status status;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]));
  OK(MPI_Comm_dup(copies[0], &copies[1]));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copies[2]));
  for (int c = 0; c < 3; ++c) {
    OK(MPI_Comm_rank(copies[c], &rank));
    OK(MPI_Comm_size(copies[c], &number));
    CHECK_EQ(rank, me);
    CHECK_EQ(number, size);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, copies[c], &result));
    CHECK_EQ(result, MPI_CONGRUENT);
  }
  for (int c = 0; c < 4; ++c) {
    out[c] = me * 10 + c;
    OK(MPI_Isend(&out[c], 1, MPI_INT, next, 3, c < 3 ? copies[c] : MPI_COMM_WORLD, &requests[c]));
  }
  for (int c = 3; c >= 0; --c) { /* against the order of sending */
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c < 3 ? copies[c] : MPI_COMM_WORLD, &status));
    CHECK_EQ(got, previous * 10 + c);
  }
  OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  for (int c = 0; c < 3; ++c) {
    OK(MPI_Comm_free(&copies[c]));
    CHECK(copies[c] == MPI_COMM_NULL);
  }
  return finish();
}
