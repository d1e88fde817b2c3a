/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 19.1.5 (MPI_Type_match_size): a predefined type by class and size, not a copy. np: 1 */
#include "check.h"

static void check_match(int kind, int bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL, copy;
  int size, ints, addresses, types, combiner;
  OK(MPI_Type_match_size(kind, bytes, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, bytes);
  OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_NAMED);
  copy = type;
  CHECK(MPI_Type_free(&copy) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Datatype type, again;
  float sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  check_match(MPI_TYPECLASS_INTEGER, 4);
  check_match(MPI_TYPECLASS_INTEGER, 8);
  check_match(MPI_TYPECLASS_REAL, 4);
  check_match(MPI_TYPECLASS_REAL, 8);
  check_match(MPI_TYPECLASS_COMPLEX, 8);
  check_match(MPI_TYPECLASS_COMPLEX, 16);
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(float), &type));
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(float), &again));
  CHECK(type == again);
  OK(MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == (float)world_size());
  CHECK_ERROR(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_match_size(-77, 4, &type), MPI_ERR_ARG);
  return finish();
}
