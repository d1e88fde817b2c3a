/* SPDX-License-Identifier: BSD-3-Clause */
/* Many nonblocking collectives on one communicator, completed in another order than they were started, mixed
 * with blocking ones and with point-to-point messages on wildcards (MPI-4, 6.12, 6.14). */
#include "coll.h"

enum { MANY = 24, COUNT = 500 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Request requests[MANY];
    int* data[MANY];
    int from_left = -1;
    MPI_Request message;
    OK(MPI_Irecv(&from_left, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message));
    for (int k = 0; k < MANY; ++k) {
      const int root = k % size;
      data[k] = ints(COUNT);
      for (int i = 0; i < COUNT; ++i) data[k][i] = k % 2 == 0 && me != root ? 0 : value_of(me + k, i);
      if (k % 2 == 0)
        OK(MPI_Ibcast(data[k], COUNT, MPI_INT, root, MPI_COMM_WORLD, &requests[k]));
      else
        OK(MPI_Iallreduce(MPI_IN_PLACE, data[k], COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[k]));
      if (k == MANY / 2) OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Send(&me, 1, MPI_INT, (me + 1) % size, turn, MPI_COMM_WORLD));
    OK(MPI_Wait(&message, MPI_STATUS_IGNORE));
    CHECK_EQ(from_left, (me + size - 1) % size);
    for (int k = MANY - 1; k >= MANY / 2; --k) OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
    for (int left = MANY / 2; left > 0; --left) {
      int index, flag = 0;
      if (left % 2 == 0)
        OK(MPI_Waitany(MANY / 2, requests, &index, MPI_STATUS_IGNORE));
      else
        while (!flag) OK(MPI_Testany(MANY / 2, requests, &index, &flag, MPI_STATUS_IGNORE));
      CHECK(index >= 0 && index < MANY / 2);
      CHECK(requests[index] == MPI_REQUEST_NULL);
    }
    for (int k = 0; k < MANY; ++k) {
      const int from = k % 2 == 0 ? k % size : size - 1;
      for (int i = 0; i < COUNT; ++i) CHECK_EQ(data[k][i], value_of(from + k, i));
      free(data[k]);
    }
  }
  return finish();
}
