/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_free takes effect after the operations that are pending on the communicator (MPI-4, 7.4.3). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  enum { kBytes = 200000 };
  unsigned char* out = malloc(kBytes);
  unsigned char* in = malloc(kBytes);
  for (int round = 0; round < 10; ++round) {
    MPI_Comm comm;
    MPI_Request requests[2];
    fill(out, kBytes, me + round);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(in, kBytes, MPI_BYTE, previous, round, comm, &requests[0]));
    OK(MPI_Isend(out, kBytes, MPI_BYTE, next, round, comm, &requests[1]));
    OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(first_difference(in, kBytes, previous + round), -1);
  }
  free(in);
  free(out);
  return finish();
}
