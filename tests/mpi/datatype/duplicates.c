/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1.10: a duplicate is committed if its original is, has its bounds, lives without it, and
 * tells that it is one. np: 1 */
#include "check.h"

static void check_combiner(MPI_Datatype type, MPI_Datatype of) {
  int ints, addresses, types, combiner;
  MPI_Datatype old;
  OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_DUP);
  CHECK_EQ(ints + addresses, 0);
  CHECK_EQ(types, 1);
  if (of == MPI_DATATYPE_NULL) return;
  OK(MPI_Type_get_contents(type, 0, 0, 1, NULL, NULL, &old));
  CHECK(old == of); /* a predefined type is given as it is */
}

int main(int argc, char** argv) {
  int from[4] = {1, 2, 3, 4}, to[4] = {0, 0, 0, 0};
  MPI_Datatype type, copy, second;
  MPI_Aint lb, extent;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Type_dup(MPI_INT, &copy));
  check_combiner(copy, MPI_INT);
  OK(MPI_Sendrecv(from, 4, copy, 0, 0, to, 4, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(to[3], 4);
  OK(MPI_Type_free(&copy)); /* unlike MPI_INT */

  OK(MPI_Type_vector(2, 1, 2, MPI_INT, &second));
  OK(MPI_Type_create_resized(second, -4, 16, &type));
  OK(MPI_Type_free(&second));
  OK(MPI_Type_dup(type, &copy));
  CHECK_ERROR(MPI_Send(from, 1, copy, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE); /* not committed */
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_dup(type, &second));
  OK(MPI_Type_free(&type));
  memset(to, 0, sizeof to);
  OK(MPI_Sendrecv(from, 1, second, 0, 0, to, 4, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK(to[0] == 1 && to[1] == 3 && to[2] == 0);
  OK(MPI_Type_get_extent(second, &lb, &extent));
  CHECK_EQ(lb, -4);
  CHECK_EQ(extent, 16);
  check_combiner(second, MPI_DATATYPE_NULL);
  OK(MPI_Type_free(&copy));
  OK(MPI_Type_free(&second));
  return finish();
}
