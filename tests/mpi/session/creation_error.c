/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 7.4.2 and 11.6: an error of MPI_Comm_create_from_group is raised by the error handler that
 * the call was given, since there is no communicator yet. The caller is no member of the group here. np: 2 */
#include "check.h"

#if MPI_VERSION >= 4

static int calls, last_code;

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++calls;
  last_code = *code;
}

int main(void) {
  MPI_Session session;
  MPI_Errhandler mine;
  MPI_Group world, others;
  MPI_Comm comm = MPI_COMM_NULL;
  int me, size, code;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_rank(world, &me));
  OK(MPI_Group_size(world, &size));
  if (size < 2) return CHECK_SKIP;
  OK(MPI_Group_excl(world, 1, &me, &others));
  OK(MPI_Comm_create_errhandler(count_error, &mine));
  code = MPI_Comm_create_from_group(others, "creation_error", MPI_INFO_NULL, mine, &comm);
  CHECK(code != MPI_SUCCESS);
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_code, code);
  CHECK_ERROR(MPI_Comm_create_from_group(others, "creation_error", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
              check_class(code));
  CHECK_EQ(calls, 1);
  OK(MPI_Errhandler_free(&mine));
  OK(MPI_Group_free(&others));
  OK(MPI_Group_free(&world));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
