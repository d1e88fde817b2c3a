/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 9.3.2 to 9.3.4 and 7.7.3: handlers and keyvals for windows and files exist without any
 * window or file, and are refused by a communicator. */
#include "check.h"

static int calls;
static void on_window(MPI_Win* win, int* code, ...) {
  (void)win, (void)code;
  ++calls;
}
static void on_file(MPI_File* file, int* code, ...) {
  (void)file, (void)code;
  ++calls;
}

static void refused_by_comm(MPI_Errhandler handler) {
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  CHECK_ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_ERR_ERRHANDLER);
  OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now));
  CHECK(now == MPI_ERRORS_RETURN);
  OK(MPI_Errhandler_free(&now));
  OK(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
}

static void keyvals(void) {
  int keyval = MPI_KEYVAL_INVALID, other = MPI_KEYVAL_INVALID, value = 0, freed;
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
  OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
  CHECK(keyval != MPI_KEYVAL_INVALID && keyval != other);
  CHECK_ERROR(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value), MPI_ERR_KEYVAL);
  freed = keyval;
  OK(MPI_Win_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  CHECK(MPI_Win_free_keyval(&freed) != MPI_SUCCESS);
  CHECK_ERROR(MPI_Win_free_keyval(&keyval), MPI_ERR_KEYVAL);
  OK(MPI_Win_free_keyval(&other));
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Win_create_errhandler(on_window, &handler));
  CHECK(handler != MPI_ERRHANDLER_NULL);
  refused_by_comm(handler);
  OK(MPI_File_create_errhandler(on_file, &handler));
  refused_by_comm(handler);
  CHECK_EQ(calls, 0);
  keyvals();
  return finish();
}
