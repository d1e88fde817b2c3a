/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 9.3.5: error handlers of sessions: the one of MPI_Session_init, one's own, and calling
 * them. np: 1-4 */
#include "check.h"

#if MPI_VERSION >= 4

static int calls, last_code;
static MPI_Session last_session;

static void count_error(MPI_Session* session, int* code, ...) {
  ++calls;
  last_code = *code;
  last_session = *session;
}

static void on_comm(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static void own_handler(MPI_Session session) {
  MPI_Errhandler mine, got;
  MPI_Group group;
  OK(MPI_Session_create_errhandler(count_error, &mine));
  OK(MPI_Session_set_errhandler(session, mine));
  OK(MPI_Session_get_errhandler(session, &got));
  CHECK(got == mine);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Errhandler_free(&mine)); /* the session still has it */
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_code, MPI_ERR_OTHER);
  CHECK(last_session == session);
  CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS);
  CHECK_EQ(calls, 2);
  CHECK(last_session == session);
}

static void another_kind(MPI_Session session) {
  MPI_Errhandler handler;
  OK(MPI_Comm_create_errhandler(on_comm, &handler));
  CHECK(MPI_Session_set_errhandler(session, handler) != MPI_SUCCESS);
  OK(MPI_Errhandler_free(&handler));
}

int main(void) {
  MPI_Session session;
  MPI_Errhandler got;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_get_errhandler(session, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER)); /* returns: that is what this handler does */
  own_handler(session);
  OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(calls, 2);
  another_kind(session);
  OK(MPI_Session_finalize(&session));
  CHECK(session == MPI_SESSION_NULL);
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
