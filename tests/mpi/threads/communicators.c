/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread uses a communicator of its own, with collectives and messages, at the same time as the others
 * (MPI-4, 11.6.1, 6.14). */
#include "check.h"

#include <pthread.h>

enum { kThreads = 4, kRounds = 50 };
static MPI_Comm comms[kThreads];

static void* worker(void* argument) {
  const int id = *(int*)argument;
  int rank, size;
  OK(MPI_Comm_rank(comms[id], &rank));
  OK(MPI_Comm_size(comms[id], &size));
  for (int round = 0; round < kRounds; ++round) {
    int mine = rank * 100 + id + round, sum = -1, got = -1;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[id]));
    CHECK_EQ(sum, size * (size - 1) / 2 * 100 + size * (id + round));
    OK(MPI_Barrier(comms[id]));
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                    comms[id], MPI_STATUS_IGNORE));
    CHECK_EQ(got, (rank + size - 1) % size * 100 + id + round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, ids[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return CHECK_SKIP;
  }
  for (int i = 0; i < kThreads; ++i) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  for (int i = 0; i < kThreads; ++i) {
    ids[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, worker, &ids[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < kThreads; ++i) OK(MPI_Comm_free(&comms[i]));
  return finish();
}
