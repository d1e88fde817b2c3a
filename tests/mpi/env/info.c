/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: set, get, order, duplicates, deletion, limits (MPI-4, 10). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info info, copy;
  char text[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY + 1];
  int flag = 0, count = -1, length = -1;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_get_nkeys(info, &count));
  CHECK_EQ(count, 0);
  OK(MPI_Info_set(info, "colour", "blue"));
  OK(MPI_Info_set(info, "a key with spaces", " value "));
  OK(MPI_Info_set(info, "colour", "green"));
  OK(MPI_Info_get_nkeys(info, &count));
  CHECK_EQ(count, 2);
  OK(MPI_Info_get(info, "colour", sizeof text - 1, text, &flag));
  CHECK(flag);
  CHECK(strcmp(text, "green") == 0);
  OK(MPI_Info_get_valuelen(info, "colour", &length, &flag));
  CHECK(flag);
  CHECK_EQ(length, 5);
  OK(MPI_Info_get(info, "nothing", sizeof text - 1, text, &flag));
  CHECK(!flag);
  OK(MPI_Info_get(info, "colour", 3, text, &flag)); /* cut off */
  CHECK(flag);
  CHECK(strcmp(text, "gre") == 0);
  OK(MPI_Info_dup(info, &copy));
  OK(MPI_Info_set(info, "third", "3"));
  OK(MPI_Info_get_nkeys(copy, &count));
  CHECK_EQ(count, 2);
  for (int i = 0; i < count; ++i) {
    OK(MPI_Info_get_nthkey(copy, i, key));
    CHECK(strcmp(key, "colour") == 0 || strcmp(key, "a key with spaces") == 0);
  }
  CHECK_ERROR(MPI_Info_get_nthkey(copy, -1, key), MPI_ERR_ARG);
  OK(MPI_Info_delete(copy, "colour"));
  CHECK_ERROR(MPI_Info_delete(copy, "colour"), MPI_ERR_INFO_NOKEY);
  OK(MPI_Info_free(&copy));
  OK(MPI_Info_free(&info));
  CHECK(info == MPI_INFO_NULL);
  return finish();
}
