/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.8: predefined types are called as in the standard, derived ones have no name until they
 * get one, and a copy has none of its original. np: 1 */
#include "check.h"

static void check_name(MPI_Datatype type, const char* wanted) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  memset(name, 'x', sizeof name);
  OK(MPI_Type_get_name(type, name, &length));
  CHECK_EQ(length, (int)strlen(wanted));
  CHECK(strcmp(name, wanted) == 0);
}

static void predefined(void) {
  MPI_Datatype type;
  check_name(MPI_INT, "MPI_INT");
  check_name(MPI_DOUBLE, "MPI_DOUBLE");
  check_name(MPI_BYTE, "MPI_BYTE");
  check_name(MPI_PACKED, "MPI_PACKED");
  check_name(MPI_2INT, "MPI_2INT");
  check_name(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_name(MPI_UINT64_T, "MPI_UINT64_T");
  check_name(MPI_C_BOOL, "MPI_C_BOOL");
  check_name(MPI_AINT, "MPI_AINT");
  /* Two names for one type: the default is the first one of the tables in section 3.2.2. */
  check_name(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT");
  check_name(MPI_LONG_LONG, "MPI_LONG_LONG_INT");
  check_name(MPI_C_COMPLEX, "MPI_C_COMPLEX");
  check_name(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX");
  check_name(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG");
  OK(MPI_Type_dup(MPI_INT, &type));
  OK(MPI_Type_set_name(type, "whole"));
  check_name(type, "whole");
  check_name(MPI_INT, "MPI_INT");
  OK(MPI_Type_free(&type));
}

static void derived(void) {
  char longest[MPI_MAX_OBJECT_NAME];
  MPI_Datatype type, same;
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  check_name(type, "");
  OK(MPI_Type_set_name(type, "a pair of numbers"));
  check_name(type, "a pair of numbers");
  OK(MPI_Type_dup(type, &same));
  check_name(same, "");
  OK(MPI_Type_set_name(type, " "));
  check_name(type, " "); /* blanks count in C */
  OK(MPI_Type_set_name(type, ""));
  check_name(type, "");
  memset(longest, 'n', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  OK(MPI_Type_set_name(type, longest));
  check_name(type, longest);
  OK(MPI_Type_free(&same));
  OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  predefined();
  derived();
  return finish();
}
