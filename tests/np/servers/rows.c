/* SPDX-License-Identifier: BSD-3-Clause */
/* What each step of a program asks of the process manager: prints a line "row STEP REQUESTS FENCES" for each
 * rank and step, from MPI_T's performance variables. The lower half of the ranks is on other nodes than the
 * upper half. tests/np/rows.py reads it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, size;
static MPI_T_pvar_session pvars;
static MPI_T_pvar_handle handles[2];
static unsigned long long before[2];

static void check(int rc, const char* what) {
  if (rc == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s: error %d\n", me, what, rc);
  exit(3);
}

static void open_counters(void) {
  static const char* const names[2] = {"pmi_operations", "pmi_fences"};
  int provided, count, index;
  check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
  check(MPI_T_pvar_session_create(&pvars), "MPI_T_pvar_session_create");
  for (int i = 0; i < 2; ++i) {
    check(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index), names[i]);
    check(MPI_T_pvar_handle_alloc(pvars, index, NULL, &handles[i], &count), names[i]);
  }
}

/* What has been asked since the step before. */
static void row(const char* step) {
  unsigned long long now[2];
  for (int i = 0; i < 2; ++i) check(MPI_T_pvar_read(pvars, handles[i], &now[i]), "MPI_T_pvar_read");
  printf("row %s %llu %llu\n", step, now[0] - before[0], now[1] - before[1]);
  memcpy(before, now, sizeof before);
}

static void make(MPI_Group group, const char* tag) {
  MPI_Comm comm;
  check(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), tag);
  check(MPI_Barrier(comm), "MPI_Barrier");
  check(MPI_Comm_free(&comm), "MPI_Comm_free");
}

static MPI_Group set(MPI_Session session, const char* name) {
  MPI_Group group;
  check(MPI_Group_from_session_pset(session, name, &group), name);
  return group;
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group all, self, node, pair, every_other;
  check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  open_counters();
  row("session");
  all = set(session, "mpi://WORLD");
  self = set(session, "mpi://SELF");
  node = set(session, "mpix://NODE");
  MPI_Group_rank(all, &me);
  MPI_Group_size(all, &size);
  const int half = size / 2;
  const int both[2] = {me % half, me % half + half};
  int stride[1][3] = {{me % 2, size - 1, 2}};
  check(MPI_Group_incl(all, 2, both, &pair), "MPI_Group_incl");
  check(MPI_Group_range_incl(all, 1, stride, &every_other), "MPI_Group_range_incl");
  make(self, "self");
  row("self");
  make(node, "node");
  row("node");
  make(pair, "pair");
  row("pair");
  for (int i = 0; i < 5; ++i) make(pair, "pair again");
  row("pair_again");
  make(all, "all");
  row("all");
  for (int i = 0; i < 5; ++i) make(every_other, "every other");
  row("every_other");
  check(MPI_Init(&argc, &argv), "MPI_Init");
  row("init");
  check(MPI_Finalize(), "MPI_Finalize");
  row("finalize");
  MPI_Group_free(&all);
  MPI_Group_free(&self);
  MPI_Group_free(&node);
  MPI_Group_free(&pair);
  MPI_Group_free(&every_other);
  check(MPI_Session_finalize(&session), "MPI_Session_finalize");
  check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init again");
  self = set(session, "mpi://SELF");
  make(self, "self again");
  row("session_again");
  MPI_Group_free(&self);
  check(MPI_Session_finalize(&session), "MPI_Session_finalize");
  return 0;
}
