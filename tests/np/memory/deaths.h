/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs share of which one process is killed while it copies, and the others go on. */
#ifndef TESTS_NP_MEMORY_DEATHS_H
#define TESTS_NP_MEMORY_DEATHS_H

#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static int rank; /* in MPI_COMM_WORLD */

static void fail(const char* what, int detail) {
  fprintf(stderr, "rank %d: %s (%d)\n", rank, what, detail);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* For ten seconds at most. */
static void wait_until(const volatile int* flag) {
  for (int i = 0; i < 100000 && !*flag; ++i) usleep(100);
}

/* `told`: for those who wait until it is about to happen. */
static void die(volatile int* told) {
  *told = 1;
  kill(getpid(), SIGKILL);
  __builtin_trap(); /* the first process of a pid namespace does not die of its own signals */
}

/* Message number `seed`. */
static void put(unsigned char* buffer, int bytes, int seed) {
  for (int i = 0; i < bytes; ++i) buffer[i] = (unsigned char)(i % 251 + seed);
}
static void verify(const unsigned char* buffer, int bytes, int seed) {
  for (int i = 0; i < bytes; ++i)
    if (buffer[i] != (unsigned char)(i % 251 + seed)) fail("wrong byte", i);
}

/* Whether a call has ended because somebody was lost; else it has succeeded. */
static int lost(int code) {
  int class = code;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_PROC_ABORTED) fail("an error of another class", class);
  return 1;
}

#endif
