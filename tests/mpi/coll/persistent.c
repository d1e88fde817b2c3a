/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: started many times with new data, in different orders on different ranks, together
 * with others (MPI-4, 6.13). needs: mpi-4 */
#include "coll.h"

#if MPI_VERSION >= 4
enum { COUNT = 300, TURNS = 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  int* const send = ints(COUNT);
  int* const sum = ints(COUNT);
  int* const word = ints(COUNT);
  int* const all = ints((long)COUNT * size);
  MPI_Request requests[3];
  OK(MPI_Allreduce_init(send, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Bcast_init(word, COUNT, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Allgather_init(send, COUNT, MPI_INT, all, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &requests[2]));
  for (int turn = 0; turn < TURNS; ++turn) {
    for (int i = 0; i < COUNT; ++i) {
      send[i] = value_of(me, i + turn);
      word[i] = me == size - 1 ? value_of(turn, i) : 0;
    }
    OK(MPI_Startall(3, requests));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; ++i) {
      CHECK_EQ(sum[i], size * (size - 1) / 2 * 1009 + size * ((i + turn) * 31 + 1));
      CHECK_EQ(word[i], value_of(turn, i));
      for (int r = 0; r < size; ++r) CHECK_EQ(all[r * COUNT + i], value_of(r, i + turn));
    }
    for (int k = 0; k < 3; ++k) CHECK(requests[k] != MPI_REQUEST_NULL);
  }
  for (int k = 0; k < 3; ++k) OK(MPI_Request_free(&requests[k]));
  free(send);
  free(sum);
  free(word);
  free(all);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
