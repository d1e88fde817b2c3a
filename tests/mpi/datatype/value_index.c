/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 6.9.4: the pair type of a value and an index, for MPI_MINLOC and MPI_MAXLOC;
 * MPI_DATATYPE_NULL where there is none. np: 1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static void check_pair(MPI_Datatype value, MPI_Datatype index, MPI_Datatype wanted) {
  MPI_Datatype pair = MPI_INT;
  OK(MPI_Type_get_value_index(value, index, &pair));
  CHECK(pair == wanted);
}

int main(int argc, char** argv) {
  MPI_Datatype mine;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  check_pair(MPI_FLOAT, MPI_INT, MPI_FLOAT_INT);
  check_pair(MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT);
  check_pair(MPI_LONG, MPI_INT, MPI_LONG_INT);
  check_pair(MPI_INT, MPI_INT, MPI_2INT);
  check_pair(MPI_SHORT, MPI_INT, MPI_SHORT_INT);
  check_pair(MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT);
  check_pair(MPI_BYTE, MPI_INT, MPI_DATATYPE_NULL);
  check_pair(MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL);
  OK(MPI_Type_contiguous(1, MPI_FLOAT, &mine));
  check_pair(mine, MPI_INT, MPI_DATATYPE_NULL);
  CHECK_ERROR(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &mine), MPI_ERR_TYPE);
  OK(MPI_Type_free(&mine));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
