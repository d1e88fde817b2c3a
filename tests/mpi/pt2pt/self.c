/* SPDX-License-Identifier: BSD-3-Clause */
/* A process can send to itself in every way that does not wait for its own later call (MPI-4, 3.2.4, 3.5).
 */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  enum { kBytes = 300000 };
  unsigned char* out = malloc(kBytes);
  unsigned char* in = malloc(kBytes);
  MPI_Request requests[2];
  MPI_Status status;
  int flag;
  for (int bytes = 0; bytes <= kBytes; bytes = bytes ? bytes * 5 : 1) {
    fill(out, (size_t)bytes, bytes);
    /* receive first */
    OK(MPI_Irecv(in, bytes, MPI_BYTE, me, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send(out, bytes, MPI_BYTE, me, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(first_difference(in, (size_t)bytes, bytes), -1);
    memset(in, 0, (size_t)bytes);
    /* send first */
    OK(MPI_Isend(out, bytes, MPI_BYTE, me, 2, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, me);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(first_difference(in, (size_t)bytes, bytes), -1);
    /* a synchronous send is not complete before its receive */
    OK(MPI_Issend(out, bytes, MPI_BYTE, me, 3, MPI_COMM_WORLD, &requests[0]));
    for (int i = 0; i < 20; ++i) {
      OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
    }
    OK(MPI_Irecv(in, bytes, MPI_BYTE, me, 3, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  /* The same on MPI_COMM_SELF; the two communicators do not mix. */
  int a = 1, b = 2, got = 0;
  OK(MPI_Isend(&a, 1, MPI_INT, me, 9, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(&b, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &requests[1]));
  OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status));
  CHECK_EQ(got, 2);
  CHECK_EQ(status.MPI_SOURCE, 0);
  OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
  CHECK_EQ(got, 1);
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  free(in);
  free(out);
  return finish();
}
