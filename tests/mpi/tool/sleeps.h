/* SPDX-License-Identifier: BSD-3-Clause */
/* How often this process slept while it waited (docs/user-guide.md): Starling's performance variables. */
#ifndef STARLING_TESTS_MPI_TOOL_SLEEPS_H
#define STARLING_TESTS_MPI_TOOL_SLEEPS_H

#include <time.h>

#include "check.h"

/* Whether this MPI counts them. Before MPI_Init, and MPI_T_finalize after the last use. */
static int CHECK_UNUSED sleeps_are_counted(void) {
  int level, index;
  OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
  return MPI_T_pvar_get_index("wait_sleeps_missed", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS;
}

static unsigned long long CHECK_UNUSED sleeps(const char* name) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  unsigned long long number = 0;
  int index, count;
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  OK(MPI_T_pvar_read(session, handle, &number));
  OK(MPI_T_pvar_handle_free(session, &handle));
  OK(MPI_T_pvar_session_free(&session));
  return number;
}

/* Ends the program when a wake-up was lost; at once, since each costs 0.1 s. */
static void CHECK_UNUSED nothing_missed(const char* where) {
  const unsigned long long missed = sleeps("wait_sleeps_missed");
  if (missed != 0) fprintf(stderr, "%s: %llu sleeps missed what they waited for\n", where, missed);
  CHECK_EQ(missed, 0);
}

/* Passes up to `most_us`, each time another while, computing or not: what is waited for then comes before,
 * while and after the other side goes to sleep. */
static void CHECK_UNUSED pass_a_while(unsigned* seed, double most_us) {
  *seed = *seed * 1664525u + 1013904223u;
  const double us = most_us * (double)(*seed >> 8) / (double)(1u << 24);
  const double end = MPI_Wtime() + us * 1e-6;
  const struct timespec pause = {0, (long)(us * 1e3)};
  if (*seed >> 31 != 0) nanosleep(&pause, NULL);
  while (MPI_Wtime() < end) {
  }
}

#endif
