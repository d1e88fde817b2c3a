/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers: MPI_ERRORS_RETURN, the user's own, inheritance by duplicates, explicit calls
 * (MPI-4, 9.3). */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void count_error(MPI_Comm* comm, int* code, ...) {
  ++calls;
  last_code = *code;
  last_comm = *comm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler mine, got;
  MPI_Comm copy, later;
  int value = 0;
  OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Comm_create_errhandler(count_error, &mine));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  OK(MPI_Comm_set_errhandler(copy, mine));
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, 1 << 20, 0, copy), MPI_ERR_RANK);
  CHECK_EQ(calls, 1);
  CHECK_EQ(check_class(last_code), MPI_ERR_RANK);
  CHECK(last_comm == copy);
  OK(MPI_Comm_get_errhandler(copy, &got));
  CHECK(got == mine);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Errhandler_free(&mine)); /* still in use by the communicator */
  CHECK(mine == MPI_ERRHANDLER_NULL);
  OK(MPI_Comm_dup(copy, &later)); /* inherits */
  CHECK_ERROR(MPI_Send(&value, -1, MPI_INT, 0, 0, later), MPI_ERR_COUNT);
  CHECK_EQ(calls, 2);
  CHECK(last_comm == later);
  OK(MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER));
  CHECK_EQ(calls, 3);
  CHECK_EQ(check_class(last_code), MPI_ERR_OTHER);
  OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Send(&value, 1, MPI_INT, 1 << 20, 0, copy), MPI_ERR_RANK);
  CHECK_EQ(calls, 3);
  OK(MPI_Comm_free(&later));
  OK(MPI_Comm_free(&copy));
  return finish();
}
