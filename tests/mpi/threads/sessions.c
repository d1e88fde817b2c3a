/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions that come and go in several threads at once, with communicators made from their groups, with and
 * without a world beside them (MPI 5.0, 11.3, 11.6.2). needs: mpi-4 */
#include "threads.h"

#if MPI_VERSION >= 4
enum { ROUNDS = 8 };

static void* work(void* argument) {
  const Worker* const self = argument;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Session session;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm, copy;
    char tag[32];
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    snprintf(tag, sizeof tag, "worker %d", self->id);
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    check_sum(comm, self->id + round);
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&comm));
    check_sum(copy, self->id * 3);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Session_finalize(&session));
  }
  return NULL;
}

int main(int argc, char** argv) {
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; ++i) workers[i].id = i;
  run_workers(work, workers);
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_workers(work, workers);
  check_sum(MPI_COMM_WORLD, 1);
  OK(MPI_Finalize());
  run_workers(work, workers); /* sessions outlive the world */
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
