/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process has sent to other nodes so far, by the counters of MPI_T. */
#ifndef STARLING_TESTS_SENT_H
#define STARLING_TESTS_SENT_H

#include <mpi.h>
#include <stdio.h>

/* The sum of one kind over all protocols: "messages" (MPI_T_PVAR_CLASS_COUNTER) or "bytes" (..._AGGREGATE).
 * MPI_T has been initialised. */
static unsigned long long sent_to_other_nodes(const char* kind, int pvar_class) {
  static const char* const protocols[] = {"eager", "ring", "get"};
  unsigned long long sum = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  for (unsigned i = 0; i < sizeof protocols / sizeof *protocols; ++i) {
    char name[64];
    unsigned long long value;
    int index, count;
    MPI_T_pvar_handle handle;
    snprintf(name, sizeof name, "pml_remote_%s_%s", protocols[i], kind);
    if (MPI_T_pvar_get_index(name, pvar_class, &index) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_read(session, handle, &value);
    sum += value;
    MPI_T_pvar_handle_free(session, &handle);
  }
  MPI_T_pvar_session_free(&session);
  return sum;
}

#endif
