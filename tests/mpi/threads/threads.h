/* SPDX-License-Identifier: BSD-3-Clause */
/* Running one function in several threads. */
#ifndef STARLING_TESTS_MPI_THREADS_H
#define STARLING_TESTS_MPI_THREADS_H

#include <pthread.h>

#include "check.h"

enum { THREADS = 4 };

typedef struct {
  int id;
  MPI_Comm comm; /* the thread's own */
} Worker;

/* Initialises with MPI_THREAD_MULTIPLE; 0 where this MPI does not have it. */
static int CHECK_UNUSED init_multiple(int* argc, char*** argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) return 1;
  MPI_Finalize();
  return 0;
}

static void CHECK_UNUSED run_workers(void* (*work)(void*), Worker* workers) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  for (int i = 0; i < THREADS; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* Each thread with a duplicate of MPI_COMM_WORLD. */
static void CHECK_UNUSED run_with_duplicates(void* (*work)(void*)) {
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i].id = i;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm));
  }
  run_workers(work, workers);
  for (int i = 0; i < THREADS; ++i) OK(MPI_Comm_free(&workers[i].comm));
}

/* Everybody's number arrives everywhere. */
static void CHECK_UNUSED check_sum(MPI_Comm comm, int salt) {
  int rank, size, mine, sum = -1;
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &size));
  mine = rank + salt;
  OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2 + size * salt);
}

#endif
