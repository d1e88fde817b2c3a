/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of every process create communicators over the same group at the same time; the string tags
 * keep them apart (MPI-4, 7.4.2, 11.6). needs: mpi-4 */
#include "check.h"

#include <pthread.h>

#if MPI_VERSION >= 4
enum { kThreads = 3, kRounds = 10 };
static MPI_Group group;

static void* create(void* argument) {
  const int id = *(int*)argument;
  char tag[32];
  snprintf(tag, sizeof tag, "thread.%d", id);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm;
    int rank, size, sum, mine;
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    mine = rank + id * 1000;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2 + size * id * 1000);
    OK(MPI_Comm_free(&comm));
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
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  for (int i = 0; i < kThreads; ++i) {
    ids[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, create, &ids[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  OK(MPI_Group_free(&group));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
