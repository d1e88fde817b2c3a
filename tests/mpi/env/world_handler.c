/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that chose an error handler for MPI_COMM_WORLD only gets the errors without an object by it, as
 * MPI-1 to MPI-3 said (3.1, 8.3); MPI 5.0 section 9.3 says MPI_COMM_SELF, whose handler the program never
 * named. np: 1+ */
#include "check.h"

static int calls;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

/* Wrong calls that name no communicator, or none that exists. */
static int wrong_calls(void) {
  MPI_Group group;
  MPI_Datatype type;
  int value = 1, sum = 1, size = 0;
  MPI_Aint lower = 0;
  CHECK(MPI_Type_contiguous(2, MPI_INT, NULL) != MPI_SUCCESS);
  CHECK_ERROR(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Type_get_extent(MPI_DATATYPE_NULL, &lower, &lower), MPI_ERR_TYPE);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
  CHECK(MPI_Group_size(group, NULL) != MPI_SUCCESS);
  CHECK_ERROR(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  OK(MPI_Group_free(&group));
  CHECK_ERROR(MPI_Reduce_local(&value, &sum, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  CHECK_ERROR(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  return 7;
}

int main(int argc, char** argv) {
  MPI_Errhandler counting;
  int made;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  wrong_calls();
  OK(MPI_Comm_create_errhandler(count_error, &counting));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting));
  made = wrong_calls();
  CHECK_EQ(calls, made);
  OK(MPI_Errhandler_free(&counting));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  return finish();
}
