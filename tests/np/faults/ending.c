/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has printed something that C's library still holds, and ends at once in the way that the
 * argument names. Usage: ending WAY, or ending finalized WAY */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void hold(void) {
  static char buffer[65536];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  printf("rank %d has printed this\n", rank);
}

static void* abort_job(void* unused) {
  MPI_Abort(MPI_COMM_WORLD, 5);
  return unused;
}

static void* lock_output(void* locked) {
  flockfile(stdout);
  atomic_store((atomic_int*)locked, 1);
  for (;;) pause();
  return NULL;
}

static void in_another_thread(void* (*run)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, argument);
}

static void fill_output(void) {
  char much[4096] = {0};
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  while (write(1, much, sizeof much) > 0) {
  }
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) & ~O_NONBLOCK);
}

static void* make_communicators(void* comm) {
  for (;;) {
    MPI_Comm copy;
    MPI_Comm_dup(*(MPI_Comm*)comm, &copy);
    MPI_Comm_free(&copy);
  }
  return NULL;
}

/* Runs after the library's own exit handler: the other threads have time to notice what is gone. */
static void linger(void) { usleep(100000); }

/* exit() in the last rank while three threads of every rank are in MPI. */
static void leave_threads(void) {
  static MPI_Comm comms[3];
  int i;
  for (i = 0; i < 3; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    in_another_thread(make_communicators, &comms[i]);
  }
  usleep(100000);
  if (rank == size - 1) exit(0);
  for (;;) pause();
}

/* The last rank ends after MPI_Finalize, in a way that runs no exit handlers; the others go on. */
static void leave_early(const char* way) {
  MPI_Finalize();
  if (rank != size - 1) {
    usleep(300000);
    printf("rank %d has gone on\n", rank);
    exit(0);
  }
  if (strcmp(way, "_exit") == 0) _exit(0);
  if (strcmp(way, "quick_exit") == 0) quick_exit(0);
  execlp("true", "true", (char*)NULL);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  int provided, value = 0;
  if (strcmp(way, "threads") == 0) atexit(linger);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "threads") == 0) leave_threads();
  if (argc > 2) leave_early(argv[2]);
  if (rank != size - 1) {
    MPI_Recv(&value, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 3;
  }
  hold();
  if (strcmp(way, "abort") == 0) {
    abort_job(NULL);
  } else if (strcmp(way, "thread") == 0) {
    in_another_thread(abort_job, NULL);
    for (;;) pause();
  } else if (strcmp(way, "fatal") == 0) {
    MPI_Send(&value, 1, MPI_INT, size + 7, 1, MPI_COMM_WORLD);
  } else if (strcmp(way, "locked") == 0) {
    atomic_int locked = 0;
    in_another_thread(lock_output, &locked);
    while (!atomic_load(&locked)) usleep(100);
    abort_job(NULL);
  } else if (strcmp(way, "full") == 0) {
    fill_output();
    abort_job(NULL);
  } else if (strcmp(way, "launcher") == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return 3;
}
