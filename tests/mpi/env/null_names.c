/* SPDX-License-Identifier: BSD-3-Clause */
/* A null handle has a name that can be asked for, and none that can be set (MPI 4.1 and later, 7.8). */
#include "check.h"

static void check_name(const char* name, int length, const char* expected) {
  CHECK(strcmp(name, expected) == 0);
  CHECK_EQ(length, (int)strlen(expected));
}

int main(int argc, char** argv) {
  int version, subversion, length = -1;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Init(&argc, &argv);
  OK(MPI_Get_version(&version, &subversion));
  if (version < 4 || (version == 4 && subversion < 1)) {
    MPI_Finalize();
    return CHECK_SKIP;
  }
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));

  OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
  check_name(name, length, "MPI_COMM_NULL");
  OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
  check_name(name, length, "MPI_DATATYPE_NULL");
  OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
  check_name(name, length, "MPI_WIN_NULL");

  CHECK_ERROR(MPI_Comm_set_name(MPI_COMM_NULL, "x"), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Type_set_name(MPI_DATATYPE_NULL, "x"), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Comm_get_name(MPI_COMM_NULL, NULL, &length), MPI_ERR_ARG);
  return finish();
}
