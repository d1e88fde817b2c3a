/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a process create communicators over different groups at the same time: one over all processes,
 * and others over the first process and one of the last. Where processes find each other through the process
 * manager, one thread waits for its fence while others look for names (MPI-4, 7.4.2, 11.6). needs: mpi-4 */
#include "check.h"

#include <pthread.h>

#if MPI_VERSION >= 4
enum { kThreads = 5, kRounds = 3 };
static MPI_Group world;
static int my_rank, job_size;

static void create_and_sum(MPI_Group group, const char* tag) {
  MPI_Comm comm;
  int size, sum, one = 1;
  OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Comm_size(comm, &size));
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size);
  OK(MPI_Comm_free(&comm));
}

static void* create(void* argument) {
  const int id = *(int*)argument;
  const int ranks[2] = {0, job_size - id};
  char tag[32];
  snprintf(tag, sizeof tag, "thread.%d", id);
  for (int round = 0; round < kRounds; ++round) {
    if (id == 0) {
      create_and_sum(world, tag);
    } else if (ranks[1] > 0 && (my_rank == ranks[0] || my_rank == ranks[1])) {
      MPI_Group pair;
      OK(MPI_Group_incl(world, 2, ranks, &pair));
      create_and_sum(pair, tag);
      OK(MPI_Group_free(&pair));
    }
  }
  return NULL;
}

int main(void) {
  MPI_Session session;
  MPI_Info info, got;
  pthread_t threads[kThreads];
  int ids[kThreads], flag, room;
  char level[64] = "";
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  OK(MPI_Info_free(&info));
  OK(MPI_Session_get_info(session, &got));
  room = sizeof level;
  OK(MPI_Info_get_string(got, "thread_level", &room, level, &flag));
  OK(MPI_Info_free(&got));
  if (flag && strcmp(level, "MPI_THREAD_MULTIPLE") != 0) return CHECK_SKIP;
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_rank(world, &my_rank));
  OK(MPI_Group_size(world, &job_size));
  for (int i = 0; i < kThreads; ++i) {
    ids[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, create, &ids[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  OK(MPI_Group_free(&world));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
