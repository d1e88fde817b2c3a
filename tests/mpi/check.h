/* SPDX-License-Identifier: BSD-3-Clause */
/* What every conformance program shares: a check that ends the whole job at the first mismatch.
 *
 * A program is plain C that any MPI can build and run. The comment at its top cites the standard's section
 * and may hold the lines `np: 2+` (least number of ranks; `np: 1-4` and `np: 2,4` also work) and `needs:
 * mpi-4`. Exit code 0: passed; 77: this MPI lacks what the test needs; anything else: failed. */
#ifndef STARLING_TESTS_MPI_CHECK_H
#define STARLING_TESTS_MPI_CHECK_H

#include "large.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SKIP 77

#ifdef __GNUC__
#define CHECK_UNUSED __attribute__((unused))
#else
#define CHECK_UNUSED
#endif

/* MPI_Abort needs no communicator in particular; before init and after finalize only exit is left. */
static void CHECK_UNUSED check_fail(const char* file, int line, const char* what) {
  int initialized = 0, finalized = 0, rank = -1;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, what);
  fflush(stderr);
  if (initialized && !finalized) MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void CHECK_UNUSED check_equal(const char* file, int line, const char* what, long long got,
                                     long long want) {
  char text[512];
  if (got == want) return;
  snprintf(text, sizeof text, "%s is %lld, expected %lld", what, got, want);
  check_fail(file, line, text);
}

static int CHECK_UNUSED check_class(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

static void CHECK_UNUSED check_success(const char* file, int line, const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING + 256], reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, reason, &length);
  snprintf(text, sizeof text, "%s failed: %s", call, reason);
  check_fail(file, line, text);
}

/* The condition holds. */
#define CHECK(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "not true: " #condition))
/* Two integers are equal. */
#define CHECK_EQ(got, want) check_equal(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
/* An MPI call returns MPI_SUCCESS. */
#define OK(call) check_success(__FILE__, __LINE__, #call, (call))
/* An MPI call returns an error of this class (the handler has to be MPI_ERRORS_RETURN). */
#define CHECK_ERROR(call, want) \
  check_equal(__FILE__, __LINE__, "error class of " #call, check_class(call), (want))

/* The byte that message `seed` carries at position `index`. */
static unsigned char CHECK_UNUSED pattern(int seed, size_t index) {
  return (unsigned char)(seed * 131 + (int)(index * 7) + (int)(index >> 8));
}

static void CHECK_UNUSED fill(void* buffer, size_t bytes, int seed) {
  unsigned char* at = buffer;
  for (size_t i = 0; i < bytes; ++i) at[i] = pattern(seed, i);
}

/* The position of the first byte that differs from the pattern, or -1. */
static long CHECK_UNUSED first_difference(const void* buffer, size_t bytes, int seed) {
  const unsigned char* at = buffer;
  for (size_t i = 0; i < bytes; ++i)
    if (at[i] != pattern(seed, i)) return (long)i;
  return -1;
}

static int CHECK_UNUSED world_rank(void) {
  int rank;
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

static int CHECK_UNUSED world_size(void) {
  int size;
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  return size;
}

/* Finalizes and gives main's return value. */
static int CHECK_UNUSED finish(void) {
  OK(MPI_Finalize());
  return 0;
}

#endif
