/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_FILE_NULL stands for files to come: its error handler is MPI_ERRORS_RETURN until it is changed, and
 * only one for files fits (MPI 5.0, 9.3.3, 14.7). */
#include "check.h"

static int calls;

static void on_file(MPI_File* file, int* code, ...) {
  CHECK(*file == MPI_FILE_NULL);
  CHECK_EQ(*code, MPI_ERR_AMODE);
  ++calls;
}
static void on_comm(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler, got;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE));
  OK(MPI_File_create_errhandler(on_file, &handler));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
  CHECK(got == handler);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Errhandler_free(&handler)); /* it stays attached */
  OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE));
  CHECK_EQ(calls, 1);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  OK(MPI_Comm_create_errhandler(on_comm, &handler));
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) != MPI_SUCCESS);
  OK(MPI_Errhandler_free(&handler));
  return finish();
}
