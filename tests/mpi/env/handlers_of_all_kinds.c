/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of sessions, windows and files, keyvals of windows; error classes that come and go
 * (MPI 5.0, 7.7.4, 9.3, 9.5). np: 1 needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static int calls, last;

static void on_session(MPI_Session* session, int* code, ...) {
  CHECK(*session != MPI_SESSION_NULL);
  ++calls;
  last = *code;
}
static void on_window(MPI_Win* window, int* code, ...) { (void)window, (void)code; }
static void on_file(MPI_File* file, int* code, ...) { (void)file, (void)code; }

static void of_a_session(void) {
  MPI_Session session;
  MPI_Errhandler handler, got;
  MPI_Group group;
  OK(MPI_Session_create_errhandler(on_session, &handler));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_get_errhandler(session, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Session_set_errhandler(session, handler));
  OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(calls, 1);
  CHECK_EQ(last, MPI_ERR_OTHER);
  CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS);
  CHECK_EQ(calls, 2);
  OK(MPI_Errhandler_free(&handler)); /* the session keeps it */
  OK(MPI_Session_call_errhandler(session, MPI_ERR_ARG));
  CHECK_EQ(calls, 3);
  OK(MPI_Session_finalize(&session));
}

static void classes(void) {
  int added, code, got;
  char text[MPI_MAX_ERROR_STRING];
  OK(MPI_Add_error_class(&added));
  OK(MPI_Add_error_code(added, &code));
  OK(MPI_Add_error_string(code, "of the test"));
  OK(MPI_Error_class(code, &got));
  CHECK_EQ(got, added);
  OK(MPI_Error_string(code, text, &got));
  CHECK(strcmp(text, "of the test") == 0);
  CHECK(MPI_Remove_error_class(added) != MPI_SUCCESS); /* it still has a code */
  OK(MPI_Remove_error_string(code));
  OK(MPI_Error_string(code, text, &got));
  CHECK_EQ(got, 0);
  OK(MPI_Remove_error_code(code));
  OK(MPI_Remove_error_class(added));
  CHECK(MPI_Remove_error_class(MPI_ERR_ARG) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  int keyval;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  of_a_session();
  classes();
  /* A handler is for objects of its kind. */
  OK(MPI_Win_create_errhandler(on_window, &handler));
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler) != MPI_SUCCESS);
  OK(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
  OK(MPI_File_create_errhandler(on_file, &handler));
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler) != MPI_SUCCESS);
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
  CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL) != MPI_SUCCESS);
  OK(MPI_Win_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
