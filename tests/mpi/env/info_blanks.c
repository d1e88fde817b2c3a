/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 chapter 10: keys and values of C programs are taken as they are; only Fortran strips blanks. The
 * longest key and value fit, longer ones are refused. np: 1 */
#include "check.h"

static void check_value(MPI_Info info, const char* key, const char* wanted) {
  char text[64] = "";
  int flag = 0, length = -1;
  OK(MPI_Info_get(info, key, sizeof text - 1, text, &flag));
  CHECK(flag);
  CHECK(strcmp(text, wanted) == 0);
  OK(MPI_Info_get_valuelen(info, key, &length, &flag));
  CHECK_EQ(length, (int)strlen(wanted));
}

static void blanks(MPI_Info info) {
  int flag = -1, length = 0;
  OK(MPI_Info_set(info, "tea", "  with milk  "));
  check_value(info, "tea", "  with milk  ");
  OK(MPI_Info_set(info, " tea ", "another key"));
  check_value(info, " tea ", "another key");
  check_value(info, "tea", "  with milk  ");
  OK(MPI_Info_set(info, "blank", " "));
  check_value(info, "blank", " ");
  OK(MPI_Info_delete(info, " tea "));
  OK(MPI_Info_get_valuelen(info, "Tea", &length, &flag)); /* case counts */
  CHECK(!flag);
}

static void longest(MPI_Info info) {
  static char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
  int length = -1, flag = 0;
  memset(key, 'k', MPI_MAX_INFO_KEY);
  memset(value, 'v', MPI_MAX_INFO_VAL);
  CHECK_ERROR(MPI_Info_set(info, key, "too long a key"), MPI_ERR_INFO_KEY);
  CHECK_ERROR(MPI_Info_set(info, "too long a value", value), MPI_ERR_INFO_VALUE);
  CHECK_ERROR(MPI_Info_set(info, "", "no key"), MPI_ERR_INFO_KEY);
  key[MPI_MAX_INFO_KEY - 1] = '\0';
  value[MPI_MAX_INFO_VAL - 1] = '\0';
  OK(MPI_Info_set(info, key, value));
  OK(MPI_Info_get_valuelen(info, key, &length, &flag));
  CHECK(flag);
  CHECK_EQ(length, MPI_MAX_INFO_VAL - 1);
  OK(MPI_Info_delete(info, key));
}

int main(int argc, char** argv) {
  MPI_Info info;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Info_create(&info));
  blanks(info);
  longest(info);
  OK(MPI_Info_free(&info));
  return finish();
}
