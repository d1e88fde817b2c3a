/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 14.7: an I/O call without a valid file raises its errors by the handler of MPI_FILE_NULL,
 * which returns unless the program has changed it, and not by that of its communicator. An MPI without files
 * may refuse all of them. np: 1+ */
#include "check.h"

static int calls;
static void on_file(MPI_File* file, int* code, ...) {
  (void)code;
  CHECK(*file == MPI_FILE_NULL);
  ++calls;
}

/* Calls that fail in every MPI: one has a communicator, one no object at all, one a file that is none. */
static int failing(void) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset size;
  CHECK(MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  CHECK(MPI_File_delete("/no/such/file", MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK(MPI_File_get_size(MPI_FILE_NULL, &size) != MPI_SUCCESS);
  return 3;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  int made;
  MPI_Init(&argc, &argv); /* MPI_COMM_SELF and MPI_COMM_WORLD keep MPI_ERRORS_ARE_FATAL */
  failing();
  OK(MPI_File_create_errhandler(on_file, &handler));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  made = failing();
  CHECK_EQ(calls, made);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  OK(MPI_Errhandler_free(&handler));
  failing();
  CHECK_EQ(calls, made);
  return finish();
}
