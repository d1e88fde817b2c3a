/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 11.3.1: an error of MPI_Session_init is raised by the error handler that the call was
 * given; the process may go on and try again. */
#include "check.h"

#if MPI_VERSION >= 4

static int calls, last_code;

static void count_error(MPI_Session* session, int* code, ...) {
  (void)session;
  ++calls;
  last_code = *code;
}

int main(void) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Errhandler mine;
  MPI_Info info;
  int code;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_PLENTY"));
  OK(MPI_Session_create_errhandler(count_error, &mine));
  code = MPI_Session_init(info, mine, &session);
  if (code == MPI_SUCCESS) { /* an implementation may ignore a level that it does not know */
    OK(MPI_Session_finalize(&session));
    return CHECK_SKIP;
  }
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_code, code);
  CHECK_ERROR(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), check_class(code));
  CHECK_EQ(calls, 1);
  OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
  OK(MPI_Session_init(info, mine, &session));
  CHECK(session != MPI_SESSION_NULL);
  OK(MPI_Session_finalize(&session));
  OK(MPI_Errhandler_free(&mine));
  OK(MPI_Info_free(&info));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
