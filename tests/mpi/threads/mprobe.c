/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that compete for messages of unknown size by MPI_Mprobe each get whole messages: every message is
 * received exactly once (MPI-4, 3.8.2). */
#include "check.h"

#include <pthread.h>

enum { kThreads = 3, kEach = 100 };
static int* seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* receiver(void* argument) {
  (void)argument;
  const int size = world_size();
  for (;;) {
    MPI_Message message;
    MPI_Status status;
    int count, values[64];
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count >= 1 && count <= 64);
    OK(MPI_Mrecv(values, count, MPI_INT, &message, &status));
    if (values[0] < 0) return NULL;
    CHECK_EQ(count, 1 + values[0] % 64);
    for (int i = 1; i < count; ++i) CHECK_EQ(values[i], values[0] + i);
    CHECK(status.MPI_SOURCE < size);
    pthread_mutex_lock(&lock);
    ++seen[status.MPI_SOURCE * kEach + values[0]];
    pthread_mutex_unlock(&lock);
  }
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return CHECK_SKIP;
  }
  const int me = world_rank(), size = world_size();
  if (me == 0) {
    seen = calloc((size_t)(size * kEach), sizeof(int));
    for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, receiver, NULL), 0);
  }
  for (int i = 0; i < kEach; ++i) {
    int values[64];
    for (int k = 0; k < 64; ++k) values[k] = i + k;
    /* The last one is synchronous: then all are matched, and no stop message can be taken before them. */
    if (i < kEach - 1)
      /* Synchronous: received before the barrier ends, so before the stop messages, which come from another
       * rank. */
      OK(MPI_Ssend(values, 1 + i % 64, MPI_INT, 0, 1, MPI_COMM_WORLD));
    else
      OK(MPI_Ssend(values, 1 + i % 64, MPI_INT, 0, 1, MPI_COMM_WORLD));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (me == 0) {
    const int stop = -1;
    for (int i = 0; i < kThreads; ++i) OK(MPI_Send(&stop, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < size * kEach; ++i) CHECK_EQ(seen[i], 1);
    free(seen);
  }
  return finish();
}
