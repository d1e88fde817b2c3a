/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 9.5: error classes, codes and texts of the application can be removed: a text first, then
 * its code, then its class. needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static void check_text(int code, const char* wanted) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, wanted) == 0);
  CHECK_EQ(length, (int)strlen(wanted));
}

int main(int argc, char** argv) {
  int kind, code, other, error_class;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Add_error_class(&kind));
  OK(MPI_Add_error_code(kind, &code));
  CHECK(code != kind);
  check_text(code, ""); /* it has none yet */
  OK(MPI_Add_error_string(code, "the kettle is empty"));
  check_text(code, "the kettle is empty");
  CHECK(MPI_Remove_error_class(kind) != MPI_SUCCESS); /* it has a code */
  CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);  /* it has a text */
  OK(MPI_Remove_error_string(code));
  check_text(code, "");
  CHECK(MPI_Remove_error_string(code) != MPI_SUCCESS);
  OK(MPI_Error_class(code, &error_class));
  CHECK_EQ(error_class, kind);
  OK(MPI_Remove_error_code(code));
  CHECK(MPI_Error_class(code, &error_class) != MPI_SUCCESS);
  OK(MPI_Add_error_code(MPI_ERR_RANK, &other)); /* a code of a class of the standard */
  CHECK(other != code);
  OK(MPI_Error_class(other, &error_class));
  CHECK_EQ(error_class, MPI_ERR_RANK);
  OK(MPI_Remove_error_code(other));
  OK(MPI_Remove_error_class(kind));
  CHECK(MPI_Remove_error_class(kind) != MPI_SUCCESS);
  CHECK(MPI_Remove_error_class(MPI_ERR_RANK) != MPI_SUCCESS); /* the standard's stay */
  CHECK(MPI_Remove_error_code(MPI_ERR_RANK) != MPI_SUCCESS);
  CHECK(MPI_Remove_error_string(MPI_ERR_RANK) != MPI_SUCCESS);
  CHECK(MPI_Add_error_string(MPI_ERR_RANK, "mine") != MPI_SUCCESS);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
