/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and persistent neighbourhood collectives: several at once, started in different orders, after
 * the communicator and the types were freed (MPI-4, 8.7, 8.8). needs: mpi-4 */
#include "coll.h"

#if MPI_VERSION >= 4
enum { TURNS = 10, LENGTH = 400 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size(), left = (me + size - 1) % size, right = (me + 1) % size;
  const int yes = 1, counts[2] = {LENGTH, LENGTH};
  const MPI_Aint bytes[2] = {0, sizeof(int) * LENGTH};
  int* const out = ints(2 * LENGTH);
  int* const all = ints(2 * LENGTH);
  int* const in = ints(2 * LENGTH);
  int* const now = ints(2 * LENGTH);
  MPI_Comm ring;
  MPI_Datatype word, words[2];
  MPI_Request requests[3];
  OK(MPI_Type_contiguous(1, MPI_INT, &word));
  OK(MPI_Type_commit(&word));
  words[0] = words[1] = word;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring));
  OK(MPI_Neighbor_allgather_init(out, LENGTH, MPI_INT, all, LENGTH, word, ring, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Neighbor_alltoallw_init(out, counts, bytes, words, in, counts, bytes, words, ring, MPI_INFO_NULL,
                                 &requests[1]));
  OK(MPI_Type_free(&word));
  for (int turn = 0; turn < TURNS; ++turn) {
    for (int i = 0; i < 2 * LENGTH; ++i) out[i] = value_of(me, i + turn);
    OK(MPI_Start(&requests[me % 2]));
    OK(MPI_Ineighbor_alltoall(out, LENGTH, MPI_INT, now, LENGTH, MPI_INT, ring, &requests[2]));
    OK(MPI_Start(&requests[1 - me % 2]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LENGTH; ++i) {
      CHECK_EQ(all[i], value_of(left, i + turn));
      CHECK_EQ(all[LENGTH + i], value_of(right, i + turn));
      CHECK_EQ(in[i], value_of(left, LENGTH + i + turn));
      CHECK_EQ(in[LENGTH + i], value_of(right, i + turn));
      CHECK_EQ(now[i], in[i]);
      CHECK_EQ(now[LENGTH + i], in[LENGTH + i]);
    }
  }
  OK(MPI_Ineighbor_allgather(out, LENGTH, MPI_INT, now, LENGTH, MPI_INT, ring, &requests[2]));
  OK(MPI_Comm_free(&ring));
  OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
  CHECK_EQ(now[0], value_of(left, TURNS - 1));
  OK(MPI_Start(&requests[0])); /* the request holds what the program gave up */
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK_EQ(all[LENGTH], value_of(right, TURNS - 1));
  for (int k = 0; k < 2; ++k) OK(MPI_Request_free(&requests[k]));
  free(out);
  free(all);
  free(in);
  free(now);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
