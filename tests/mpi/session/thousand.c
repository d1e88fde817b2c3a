/* SPDX-License-Identifier: BSD-3-Clause */
/* Four threads of every process make 1,000 communicators from groups at the same time: of everybody, of
 * every second process, of neighbours. Between them each thread opens sessions, unequally often on
 * different ranks (MPI-4, 11.3, 11.6). needs: mpi-4 */
#include "threads/threads.h"

#if MPI_VERSION >= 4
enum { EACH = 250 };

static int me, size;

static MPI_Session open_session(void) {
  MPI_Session session;
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  OK(MPI_Info_free(&info));
  return session;
}

/* The number-th group of a thread that has this process in it, and its lowest, step and count of ranks. */
static MPI_Group group_of(MPI_Session session, int number, int* first, int* step, int* count) {
  MPI_Group world, group;
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  *step = number % 3 == 1 ? 2 : 1;
  *first = number % 3 == 0 ? 0 : number % 3 == 1 ? me % 2 : me / 2 * 2;
  *count = number % 3 == 2 ? (*first + 1 < size ? 2 : 1) : (size - *first + *step - 1) / *step;
  int range[1][3] = {{*first, *first + (*count - 1) * *step, *step}};
  OK(MPI_Group_range_incl(world, 1, range, &group));
  OK(MPI_Group_free(&world));
  return group;
}

static void* work(void* argument) {
  const Worker* const worker = argument;
  MPI_Session session = open_session();
  for (int number = 0; number < EACH; ++number) {
    int first, step, count, sum, want = 0;
    char tag[32];
    MPI_Comm comm;
    MPI_Group group = group_of(session, number, &first, &step, &count);
    snprintf(tag, sizeof tag, "thread.%d", worker->id);
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < count; ++i) want += first + i * step;
    CHECK_EQ(sum, want);
    OK(MPI_Comm_free(&comm));
    if (number % 50 != 49) continue;
    for (int i = 0; i < (me == 0 ? 5 : 1); ++i) {
      OK(MPI_Session_finalize(&session));
      session = open_session();
    }
  }
  OK(MPI_Session_finalize(&session));
  return NULL;
}

int main(void) {
  MPI_Session session = open_session();
  MPI_Group world;
  MPI_Info used;
  char level[MPI_MAX_INFO_VAL];
  int length = sizeof level, flag;
  OK(MPI_Session_get_info(session, &used));
  OK(MPI_Info_get_string(used, "thread_level", &length, level, &flag));
  OK(MPI_Info_free(&used));
  if (!flag || strcmp(level, "MPI_THREAD_MULTIPLE") != 0) {
    OK(MPI_Session_finalize(&session));
    return CHECK_SKIP;
  }
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_rank(world, &me));
  OK(MPI_Group_size(world, &size));
  OK(MPI_Group_free(&world));
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; ++i) workers[i].id = i;
  run_workers(work, workers);
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
