/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Sendrecv and MPI_Sendrecv_replace shift around a ring without deadlock at any size, with different
 * sizes and types on both sides, and meet ordinary sends and receives (MPI-4, 3.10). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  MPI_Status status;
  count_t count;
  for (int bytes = 1; bytes <= 1 << 20; bytes *= 8) {
    unsigned char* out = malloc((size_t)bytes);
    unsigned char* in = malloc((size_t)bytes + 10);
    fill(out, (size_t)bytes, me);
    OK(MPI_Sendrecv(out, bytes, MPI_BYTE, next, 4, in, bytes + 10, MPI_BYTE, previous, 4, MPI_COMM_WORLD,
                    &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(status.MPI_SOURCE, previous);
    CHECK_EQ(first_difference(in, (size_t)bytes, previous), -1);
    OK(MPI_Sendrecv_replace(out, bytes, MPI_BYTE, next, 5, previous, 5, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_TAG, 5);
    CHECK_EQ(first_difference(out, (size_t)bytes, previous), -1);
    free(in);
    free(out);
  }
  /* One side of the ring is open. */
  int value = me, got = -1;
  const int up = me + 1 < size ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL;
  OK(MPI_Sendrecv(&value, 1, MPI_INT, up, 6, &got, 1, MPI_INT, down, 6, MPI_COMM_WORLD, &status));
  CHECK_EQ(got, me - 1);
  /* Matches an ordinary receive and an ordinary send. */
  MPI_Request requests[2];
  got = -1;
  OK(MPI_Irecv(&got, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(&value, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[1]));
  int other = -1;
  OK(MPI_Sendrecv(&value, 1, MPI_INT, next, 7, &other, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &status));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(got, previous);
  CHECK_EQ(other, previous);
  return finish();
}
