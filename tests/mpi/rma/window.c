/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.2.6, 12.2.7, 7.7.3, 7.8, 9.3.2: what a window is and carries.
 * np: 1-8 */
#include "rma.h"

static int deleted, freed_order[2];
static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win;
  (void)keyval;
  if (extra == NULL) return *(int*)value == 0 ? MPI_SUCCESS : MPI_ERR_OTHER; /* refuses */
  freed_order[deleted++] = *(int*)value;
  return MPI_SUCCESS;
}

static void attributes_of_windows(void) {
  MPI_Aint* size;
  int *base, *unit, *flavor, *model, flag;
  void* address;
  MPI_Win win;
  const MPI_Aint bytes = 8 * (world_rank() + 1);
  OK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &address, &flag));
  CHECK(flag && address == base);
  OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  CHECK(flag && *size == bytes);
  OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
  CHECK(flag && *unit == 8);
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
  OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
  CHECK(flag && *model == MPI_WIN_UNIFIED);
  OK(MPI_Win_free(&win));
  OK(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
  OK(MPI_Win_free(&win));
}

/* Values of the user's, deleted newest first by MPI_Win_free. */
static void users_attributes(void) {
  static int one = 1, two = 2, zero = 0;
  int *base, first, second, refuses, flag;
  void* value;
  MPI_Win win = int_window(1, &base);
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &first, &one));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &second, &one));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &refuses, NULL));
  OK(MPI_Win_get_attr(win, first, &value, &flag));
  CHECK_EQ(flag, 0);
  OK(MPI_Win_set_attr(win, first, &one));
  OK(MPI_Win_set_attr(win, second, &two));
  OK(MPI_Win_get_attr(win, first, &value, &flag));
  CHECK(flag && value == &one);
  OK(MPI_Win_set_attr(win, refuses, &one));
  CHECK_ERROR(MPI_Win_delete_attr(win, refuses), MPI_ERR_OTHER);
  one = 0;
  OK(MPI_Win_set_attr(win, refuses, &zero));
  OK(MPI_Win_delete_attr(win, refuses));
  one = 1;
  deleted = 0;
  OK(MPI_Win_free(&win));
  CHECK_EQ(deleted, 2);
  CHECK_EQ(freed_order[0], 2);
  CHECK_EQ(freed_order[1], 1);
  OK(MPI_Win_free_keyval(&first));
  OK(MPI_Win_free_keyval(&second));
  OK(MPI_Win_free_keyval(&refuses));
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int *base, length;
  MPI_Win win = int_window(1, &base);
  OK(MPI_Win_get_name(win, name, &length));
  CHECK_EQ(length, 0);
  OK(MPI_Win_set_name(win, "grid"));
  OK(MPI_Win_get_name(win, name, &length));
  CHECK_EQ(length, 4);
  CHECK(strcmp(name, "grid") == 0);
  OK(MPI_Win_free(&win));
}

static void groups(void) {
  MPI_Group mine, world;
  int *base, result;
  MPI_Win win = int_window(1, &base);
  OK(MPI_Win_get_group(win, &mine));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_compare(mine, world, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Group_free(&mine));
  OK(MPI_Group_free(&world));
  OK(MPI_Win_free(&win));
}

static void hints(void) {
  char value[64];
  int *base, flag, length = sizeof value;
  MPI_Info info, used;
  MPI_Win win;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "no_locks", "true"));
  OK(MPI_Info_set(info, "nobody_knows_this", "true"));
  OK(MPI_Win_allocate(4, 4, info, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Info_set(info, "no_locks", "false")); /* the window has a copy */
  OK(MPI_Win_get_info(win, &used));
  OK(MPI_Info_get(used, "no_locks", (int)sizeof value - 1, value, &flag));
  CHECK(flag && strcmp(value, "true") == 0);
  OK(MPI_Info_free(&used));
  OK(MPI_Win_set_info(win, info));
  OK(MPI_Win_get_info(win, &used));
  OK(MPI_Info_get(used, "no_locks", (int)sizeof value - 1, value, &flag));
  CHECK(flag && strcmp(value, "false") == 0);
  OK(MPI_Info_get(used, "accumulate_ordering", length - 1, value, &flag));
  CHECK(flag && strcmp(value, "rar,raw,war,waw") == 0);
  OK(MPI_Info_free(&used));
  OK(MPI_Info_free(&info));
  OK(MPI_Win_free(&win));
}

/* Small windows and large ones may lie in memory of different kinds; whatever they held before is no lock. */
static void small_and_large(void) {
  static const MPI_Aint kBytes[] = {100, 4096, 30000, 1000000};
  const int rank = world_rank(), right = (rank + 1) % world_size();
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  for (int i = 0; i < 12; ++i) {
    const MPI_Aint bytes = kBytes[i % 4];
    unsigned char *base, got[2] = {0, 0};
    MPI_Win win;
    OK(MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win));
    CHECK_EQ((MPI_Aint)base % 4096, 0);
    memset(base, rank + 1, (size_t)bytes);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    OK(MPI_Get(&got[0], 1, MPI_BYTE, right, 0, 1, MPI_BYTE, win));
    OK(MPI_Get(&got[1], 1, MPI_BYTE, right, bytes - 1, 1, MPI_BYTE, win));
    OK(MPI_Win_unlock(right, win));
    CHECK_EQ(got[0], right + 1);
    CHECK_EQ(got[1], right + 1);
    OK(MPI_Win_free(&win));
  }
  OK(MPI_Info_free(&info));
}

static int handled_code;
static MPI_Win handled_win;
static void on_error(MPI_Win* win, int* code, ...) {
  handled_win = *win;
  handled_code = check_class(*code);
}

/* The first handler of a window is MPI_ERRORS_ARE_FATAL, whatever the communicator has. */
static void error_handlers(void) {
  int *base, value = 0;
  MPI_Errhandler handler, got;
  MPI_Win win;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_get_errhandler(win, &got));
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Win_create_errhandler(on_error, &handler));
  OK(MPI_Win_set_errhandler(win, handler));
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, world_size(), 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK(handled_win == win);
  CHECK_EQ(handled_code, MPI_ERR_RANK);
  OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  CHECK_EQ(handled_code, MPI_ERR_OTHER);
  OK(MPI_Win_get_errhandler(win, &got));
  CHECK(got == handler);
  OK(MPI_Errhandler_free(&got));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_free(&win));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void handles_survive_fortran(void) {
  int* base;
  MPI_Win win = int_window(1, &base);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
  OK(MPI_Win_free(&win));
}

/* One window after another: nothing is used up, neither descriptors nor memory. */
static void many_windows(void) {
  MPI_Win some[300];
  int* base;
  for (int i = 0; i < 300; ++i) {
    OK(MPI_Win_allocate(5000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &some[i]));
    base[0] = i;
  }
  for (int i = 0; i < 300; ++i) OK(MPI_Win_free(&some[i]));
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  attributes_of_windows();
  users_attributes();
  names();
  groups();
  hints();
  small_and_large();
  error_handlers();
  handles_survive_fortran();
  many_windows();
  return finish();
}
