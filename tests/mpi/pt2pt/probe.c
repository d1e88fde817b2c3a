/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Probe and MPI_Iprobe tell a message's envelope and size and leave it to be received (MPI-4, 3.8.1).
 */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  MPI_Status status;
  int flag;
  count_t count;

  OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status));
  CHECK(!flag);
  OK(MPI_Barrier(MPI_COMM_WORLD));

  static const int sizes[] = {0, 5, 3000, 250000};
  for (int s = 0; s < 4; ++s) {
    const int bytes = sizes[s];
    unsigned char* out = malloc((size_t)bytes + 1);
    fill(out, (size_t)bytes, me + s);
    MPI_Request send;
    OK(MPI_Isend(out, bytes, MPI_BYTE, next, 50 + s, MPI_COMM_WORLD, &send));
    if (s % 2) {
      OK(MPI_Probe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    } else {
      do OK(MPI_Iprobe(MPI_ANY_SOURCE, 50 + s, MPI_COMM_WORLD, &flag, &status));
      while (!flag);
    }
    CHECK_EQ(status.MPI_SOURCE, previous);
    CHECK_EQ(status.MPI_TAG, 50 + s);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    OK(MPI_Iprobe(previous, 50 + s, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(flag); /* still there */
    unsigned char* in = malloc((size_t)count + 1);
    OK(MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(first_difference(in, (size_t)count, previous + s), -1);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    free(in);
    free(out);
  }
  return finish();
}
