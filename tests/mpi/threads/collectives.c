/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of all forms by several threads at once, each on a communicator of its own
 * (MPI 5.0, 6.13, 11.6.2). */
#include "threads.h"

enum { ROUNDS = 15, COUNT = 3000 };

static void* work(void* argument) {
  const Worker* const self = argument;
  int rank, size;
  OK(MPI_Comm_rank(self->comm, &rank));
  OK(MPI_Comm_size(self->comm, &size));
  int* const out = malloc(sizeof(int) * (size_t)(COUNT * size));
  int* const in = malloc(sizeof(int) * (size_t)(COUNT * size));
  for (int round = 0; round < ROUNDS; ++round) {
    const int root = (round + self->id) % size, count = round % 3 == 0 ? COUNT : 1 + round;
    MPI_Request requests[3];
    int sum = -1, scanned = -1;
    for (int i = 0; i < count * size; ++i) out[i] = rank * 1000000 + i + round;
    OK(MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, self->comm));
    for (int r = 0; r < size; ++r)
      for (int i = 0; i < count; ++i) CHECK_EQ(in[r * count + i], r * 1000000 + rank * count + i + round);
    for (int i = 0; i < count; ++i) in[i] = rank == root ? root * 7 + i + round : -1;
    OK(MPI_Bcast(in, count, MPI_INT, root, self->comm));
    for (int i = 0; i < count; ++i) CHECK_EQ(in[i], root * 7 + i + round);
    OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, self->comm, &requests[0]));
    OK(MPI_Ibarrier(self->comm, &requests[1]));
    OK(MPI_Iscan(&rank, &scanned, 1, MPI_INT, MPI_SUM, self->comm, &requests[2]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(sum, size * (size - 1) / 2);
    CHECK_EQ(scanned, rank * (rank + 1) / 2);
    OK(MPI_Allgather(&round, 1, MPI_INT, in, 1, MPI_INT, self->comm));
    for (int r = 0; r < size; ++r) CHECK_EQ(in[r], round);
  }
  free(out);
  free(in);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_with_duplicates(work);
  return finish();
}
