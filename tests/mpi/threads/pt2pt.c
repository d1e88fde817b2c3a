/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_THREAD_MULTIPLE: several threads of each process send and receive at the same time, each pair of
 * threads with its own tag; order holds within a pair (MPI-4, 11.6.1). */
#include "check.h"

#include <pthread.h>

enum { kThreads = 4, kMessages = 200, kMax = 70000 };

static void* worker(void* argument) {
  const int id = *(int*)argument, me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  unsigned char* out = malloc(kMax);
  unsigned char* in = malloc(kMax);
  for (int i = 0; i < kMessages; ++i) {
    const int bytes = i % 10 == 9 ? kMax : i * 13;
    MPI_Request receive;
    MPI_Status status;
    int count;
    fill(out, (size_t)bytes, me + id + i);
    OK(MPI_Irecv(in, kMax, MPI_BYTE, previous, id, MPI_COMM_WORLD, &receive));
    OK(MPI_Send(out, bytes, MPI_BYTE, next, id, MPI_COMM_WORLD));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(first_difference(in, (size_t)bytes, previous + id + i), -1);
  }
  free(in);
  free(out);
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
  for (int i = 0; i < kThreads; ++i) {
    ids[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, worker, &ids[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  return finish();
}
