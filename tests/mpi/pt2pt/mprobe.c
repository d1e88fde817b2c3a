/* SPDX-License-Identifier: BSD-3-Clause */
/* A matched message belongs to its probe: no other receive can take it; MPI_Mrecv and MPI_Imrecv do
 * (MPI-4, 3.8.2, 3.8.3). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  static unsigned char out[4][100000], in[100000], again[100000];
  static const int sizes[4] = {8, 100000, 0, 2000};
  MPI_Request sends[4], receive;
  MPI_Message first, second, none;
  MPI_Status status;
  int flag;
  count_t count;

  OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &none, &status));
  CHECK(!flag);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < 4; ++i) {
    fill(out[i], (size_t)sizes[i], me * 4 + i);
    OK(MPI_Isend(out[i], sizes[i], MPI_BYTE, next, 5, MPI_COMM_WORLD, &sends[i]));
  }
  OK(MPI_Mprobe(previous, 5, MPI_COMM_WORLD, &first, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, sizes[0]);
  do OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status));
  while (!flag);
  CHECK_EQ(status.MPI_SOURCE, previous);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, sizes[1]);

  /* An ordinary receive gets the third message, since the first two are taken. */
  OK(MPI_Recv(in, (int)sizeof in, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, sizes[2]);

  OK(MPI_Imrecv(in, sizes[1], MPI_BYTE, &second, &receive));
  CHECK(second == MPI_MESSAGE_NULL);
  OK(MPI_Wait(&receive, &status));
  CHECK_EQ(status.MPI_TAG, 5);
  CHECK_EQ(first_difference(in, (size_t)sizes[1], previous * 4 + 1), -1);
  OK(MPI_Mrecv(in, sizes[0], MPI_BYTE, &first, &status));
  CHECK(first == MPI_MESSAGE_NULL);
  CHECK_EQ(status.MPI_SOURCE, previous);
  CHECK_EQ(first_difference(in, (size_t)sizes[0], previous * 4), -1);
  OK(MPI_Recv(in, (int)sizeof in, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &status));
  CHECK_EQ(first_difference(in, (size_t)sizes[3], previous * 4 + 3), -1);
  OK(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));

  /* The one message there is, short or long, belongs to its probe: nothing else finds it. */
  for (int i = 0; i < 2; ++i) {
    OK(MPI_Isend(out[i], sizes[i], MPI_BYTE, next, 6, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Mprobe(previous, 6, MPI_COMM_WORLD, &first, &status));
    for (int look = 0; look < 100; ++look) {
      OK(MPI_Iprobe(previous, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
      OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
      OK(MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &second, MPI_STATUS_IGNORE));
      CHECK(!flag);
    }
    OK(MPI_Irecv(in, (int)sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
    OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Mrecv(again, sizes[i], MPI_BYTE, &first, &status));
    CHECK_EQ(first_difference(again, (size_t)sizes[i], previous * 4 + i), -1);
    OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Cancel(&receive));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    OK(MPI_Wait(&sends[0], MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* the next one of the neighbour comes after this */
  }

  OK(MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &none, &status));
  CHECK(none == MPI_MESSAGE_NO_PROC);
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  OK(MPI_Mrecv(NULL, 0, MPI_BYTE, &none, &status));
  CHECK(none == MPI_MESSAGE_NULL);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, 0);
  return finish();
}
