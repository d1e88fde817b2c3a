/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 9.3: a group refers to the session that it comes from, so errors of procedures on groups
 * are raised there; groups of groups keep the session. Section 11.3.3: the n-th process set has a class for
 * wrong indices, and a name of no length at NULL. np: 1-4 */
#include "check.h"

#if MPI_VERSION >= 4

static int calls;
static MPI_Session expected;

static void on_session(MPI_Session* session, int* code, ...) {
  (void)code;
  CHECK(*session == expected);
  ++calls;
}

static void groups(MPI_Session session) {
  MPI_Group world, all, made, group;
  int wrong[1] = {1000000}, range[1][3] = {{0, 0, 1}}, rank;
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_range_incl(world, 1, range, &all));
  expected = session;
  calls = 0;
  CHECK_ERROR(MPI_Group_incl(world, 1, wrong, &made), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Group_excl(all, 1, wrong, &made), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Group_translate_ranks(all, 1, wrong, world, &rank), MPI_ERR_RANK);
  CHECK(MPI_Group_size(world, NULL) != MPI_SUCCESS);
  CHECK(MPI_Group_union(world, all, NULL) != MPI_SUCCESS);
  CHECK_EQ(calls, 5);
  group = all;
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&world));
}

static void process_sets(MPI_Session session) {
  char name[4] = "abc";
  int count, length = 0;
  OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
  CHECK_ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name), MPI_ERR_ARG);
  OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
  CHECK(length > 1);
  CHECK_ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG);
  length = -1;
  CHECK_ERROR(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name), MPI_ERR_ARG);
  CHECK_EQ(strcmp(name, "abc"), 0);
  length = 4;
  OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
  CHECK_EQ(strcmp(name, "mpi"), 0);
}

int main(void) {
  MPI_Session session, other;
  MPI_Errhandler mine;
  OK(MPI_Session_create_errhandler(on_session, &mine));
  OK(MPI_Session_init(MPI_INFO_NULL, mine, &session));
  OK(MPI_Session_init(MPI_INFO_NULL, mine, &other));
  groups(session);
  groups(other);
  OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  process_sets(session);
  OK(MPI_Errhandler_free(&mine));
  OK(MPI_Session_finalize(&other));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
