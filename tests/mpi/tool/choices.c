/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 15.3.5: the enumeration of a control variable names each of its values once, and the
 * variable has one of them. np: 1 */
#include "check.h"

static int value_of(int index) {
  int value = -1, count = 0;
  MPI_T_cvar_handle handle;
  OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  CHECK_EQ(count, 1);
  OK(MPI_T_cvar_read(handle, &value));
  OK(MPI_T_cvar_handle_free(&handle));
  return value;
}

static void check_items(MPI_T_enum choices, int value) {
  char name[256], names[16][256], start[1];
  int number = 0, length = sizeof name, item, known = 0, found = -1, room = sizeof start;
  OK(MPI_T_enum_get_info(choices, &number, name, &length));
  CHECK_EQ(length, (int)strlen(name) + 1);
  CHECK(number >= 1 && number <= 16);
  for (int i = 0; i < number; ++i) {
    length = sizeof names[i];
    OK(MPI_T_enum_get_item(choices, i, &item, names[i], &length));
    CHECK_EQ(length, (int)strlen(names[i]) + 1);
    for (int j = 0; j < i; ++j) CHECK(strcmp(names[i], names[j]) != 0);
    known += item == value;
  }
  CHECK_EQ(known, 1);
  OK(MPI_T_enum_get_item(choices, 0, &item, start, &room));
  CHECK_EQ(start[0], '\0');
  CHECK_EQ(room, (int)strlen(names[0]) + 1);
  CHECK_EQ(MPI_T_enum_get_item(choices, number, &found, name, &length), MPI_T_ERR_INVALID_ITEM);
  CHECK_EQ(MPI_T_enum_get_item(choices, -1, &found, name, &length), MPI_T_ERR_INVALID_ITEM);
}

int main(int argc, char** argv) {
  int level, count = 0, checked = 0, bind;
  MPI_T_enum choices;
  MPI_Init(&argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_cvar_get_num(&count));
  for (int i = 0; i < count; ++i) {
    OK(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &choices, NULL, NULL, &bind, NULL));
    if (choices == MPI_T_ENUM_NULL || bind != MPI_T_BIND_NO_OBJECT) continue;
    check_items(choices, value_of(i));
    ++checked;
  }
  CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &count, NULL, NULL) != MPI_SUCCESS);
  OK(MPI_T_finalize());
  OK(MPI_Finalize());
  return checked > 0 ? 0 : CHECK_SKIP;
}
