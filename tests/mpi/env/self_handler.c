/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 9.3: errors without an object are raised on MPI_COMM_SELF, also when MPI_COMM_WORLD has got
 * a handler before or afterwards. np: 1+
 * needs: mpi-4 */
#include "check.h"

static int calls;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)code;
  CHECK(*comm == MPI_COMM_SELF);
  ++calls;
}

static void not_asked(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  check_fail(__FILE__, __LINE__, "the handler of MPI_COMM_WORLD was asked");
}

int main(int argc, char** argv) {
  MPI_Errhandler counting, wrong;
  int size;
#if MPI_VERSION < 4
  return CHECK_SKIP;
#endif
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_create_errhandler(count_error, &counting));
  OK(MPI_Comm_create_errhandler(not_asked, &wrong));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, counting));
  CHECK_ERROR(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong));
  CHECK_ERROR(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  CHECK_EQ(calls, 2);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Errhandler_free(&wrong));
  OK(MPI_Errhandler_free(&counting));
  return finish();
}
