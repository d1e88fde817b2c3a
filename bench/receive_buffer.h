/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives into a buffer of the program's, or of the library's where it has these (mpix.h). Include it
 * behind mpi.h. */
#ifndef STARLING_BENCH_RECEIVE_BUFFER_H
#define STARLING_BENCH_RECEIVE_BUFFER_H

#include "bench.h"

#if defined(__has_include)
#if __has_include(<mpix.h>)
#include <mpix.h>
#endif
#endif
#ifdef MPIX_BUFFER_LIBRARY
#define BENCH_MANAGED 1
#else
#define BENCH_MANAGED 0
#endif

/* A message of tag 1. */
static void BENCH_UNUSED bench_receive(void* in, int bytes, int from, int managed, MPI_Request* request) {
#if BENCH_MANAGED
  if (managed) in = MPIX_BUFFER_LIBRARY;
#endif
  (void)managed;
  MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, request);
}

/* Where it has come to. */
static BENCH_UNUSED unsigned char* bench_received(void* in, const MPI_Status* status, int managed) {
#if BENCH_MANAGED
  if (managed) MPIX_Get_recv_buf(*status, &in);
#endif
  (void)status;
  (void)managed;
  return in;
}

/* It is not needed any more. */
static void BENCH_UNUSED bench_give_back(const MPI_Status* status, int managed) {
#if BENCH_MANAGED
  void* in = NULL;
  if (!managed) return;
  MPIX_Get_recv_buf(*status, &in);
  MPIX_Release_recv_buf(*status, in);
#else
  (void)status;
  (void)managed;
#endif
}

#endif
