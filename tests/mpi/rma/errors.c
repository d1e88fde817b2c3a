/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.2.6, 12.6: wrong arguments of windows and their operations.
 * np: 1-8 */
#include "rma.h"

static void of_creation(void) {
  int* base;
  MPI_Win win;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Win_allocate(4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_DISP);
  CHECK_ERROR(MPI_Win_allocate(4, -1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_DISP);
  CHECK_ERROR(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_SIZE);
  CHECK(win == MPI_WIN_NULL);
  /* One that is wrong on one rank alone fails on all, and nobody waits. */
  CHECK_ERROR(MPI_Win_allocate_shared(world_rank() == world_size() - 1 ? -1 : 4, 1, MPI_INFO_NULL,
                                      MPI_COMM_WORLD, &base, &win),
              MPI_ERR_SIZE);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void of_places(void) {
  char text[MPI_MAX_ERROR_STRING];
  int *base, value = 5, code, length;
  MPI_Datatype backwards;
  MPI_Win win = int_window(10, &base);
  OK(MPI_Win_set_name(win, "grid"));
  OK(MPI_Type_create_resized(MPI_INT, 0, -4, &backwards));
  OK(MPI_Type_commit(&backwards));
  OK(MPI_Win_fence(0, win));
  code = MPI_Put(&value, 1, MPI_INT, 0, 10, 1, MPI_INT, win);
  CHECK_EQ(check_class(code), MPI_ERR_RMA_RANGE);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "'grid'") != NULL && strstr(text, "target 0") != NULL && strstr(text, "40..44") != NULL);
  CHECK_ERROR(MPI_Get(&value, 1, MPI_INT, 0, 9, 2, MPI_SHORT_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 2, backwards, win), MPI_ERR_RMA_RANGE);
#if MPI_VERSION >= 4
  /* 64 bits would count their bytes as none, or as those of one element. */
  for (int one = 0; one < 2; ++one) {
    const MPI_Count many = ((MPI_Count)1 << 62) + one;
    CHECK_ERROR(MPI_Put_c(&value, many, MPI_INT, 0, 0, many, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Put_c(&value, 1, MPI_INT, 0, 0, many, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Get_c(&value, many, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Accumulate_c(&value, many, MPI_INT, 0, 0, many, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
  }
#endif
  OK(MPI_Put(&value, 1, MPI_INT, 0, 9, 1, MPI_INT, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, world_size(), 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, -5, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_CHAR, win), MPI_ERR_TRUNCATE);
  CHECK_ERROR(MPI_Get(&value, 1, MPI_CHAR, 0, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(base[9], world_rank() == 0 ? 5 : 0);
  OK(MPI_Type_free(&backwards));
  OK(MPI_Win_free(&win));
}

/* 12.3.4: all have as many elements as the target. Those of a type with padding reach beyond their bytes. */
static void of_accumulates(void) {
  int *base, two[2] = {1, 1}, got = 0;
  struct {
    double value;
    int index;
  } pairs[2] = {{1, 1}, {1, 1}};
  MPI_Win win = int_window(10, &base);
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Accumulate(two, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TRUNCATE);
  CHECK_ERROR(MPI_Get_accumulate(two, 2, MPI_INT, &got, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win),
              MPI_ERR_TRUNCATE);
  CHECK_ERROR(MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_NO_OP, win),
              MPI_ERR_TRUNCATE);
  CHECK_ERROR(MPI_Accumulate(pairs, 2, MPI_DOUBLE_INT, 0, 4, 2, MPI_DOUBLE_INT, MPI_MAXLOC, win),
              MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Accumulate(two, 2, MPI_INT, 0, 9, 2, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  /* MPI_NO_OP is for calls that get something; the operations of reductions, for the types of reductions. */
  CHECK_ERROR(MPI_Accumulate(two, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Accumulate(two, 1, MPI_C_BOOL, 0, 0, 1, MPI_C_BOOL, MPI_SUM, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Accumulate(two, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(base[0], 0);
  CHECK_EQ(got, 0);
  OK(MPI_Win_free(&win));
}

/* 12.3: a type with absolute addresses does not lie in the target's part; a part may be empty. */
static void of_empty_parts_and_addresses(void) {
  int *base, value = 1;
  const int one = 1;
  MPI_Aint address;
  MPI_Datatype absolute;
  MPI_Win win = int_window(0, &base);
  OK(MPI_Get_address(&value, &address));
  OK(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute));
  OK(MPI_Type_commit(&absolute));
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, absolute, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, absolute, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, MPI_ANY_SOURCE, 0, win), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Win_flush(MPI_ROOT, win), MPI_ERR_RANK);
  OK(MPI_Type_free(&absolute));
  OK(MPI_Win_free(&win));
}

/* 12.2.6, 7.7.3: the predefined attributes cannot be changed. */
static void attributes_are_constant(void) {
  int *base, unit = 7;
  MPI_Win win = int_window(1, &base);
  CHECK_ERROR(MPI_Win_set_attr(win, MPI_WIN_BASE, &unit), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Win_set_attr(win, MPI_WIN_DISP_UNIT, &unit), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Win_delete_attr(win, MPI_WIN_SIZE), MPI_ERR_KEYVAL);
  OK(MPI_Win_free(&win));
}

/* 12.3.5: requests can be waited for, tested and looked at, and nothing else. */
static void of_requests(void) {
  static int many[100000];
  int *base, value = 1, flag = 0;
  MPI_Request request[2];
  MPI_Win win = int_window(100000, &base);
  const int target = (world_rank() + 1) % world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request[0]));
  OK(MPI_Rget(many, 100000, MPI_INT, target, 0, 100000, MPI_INT, win, &request[1]));
  for (int i = 0; i < 2; ++i) {
    CHECK_ERROR(MPI_Cancel(&request[i]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Request_free(&request[i]), MPI_ERR_REQUEST);
    CHECK(request[i] != MPI_REQUEST_NULL);
    while (!flag) OK(MPI_Request_get_status(request[i], &flag, MPI_STATUS_IGNORE));
    CHECK_ERROR(MPI_Request_free(&request[i]), MPI_ERR_REQUEST);
    OK(MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE));
    CHECK(flag && request[i] == MPI_REQUEST_NULL);
    flag = 0;
  }
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Win_free(&win));
}

static void of_dynamic_windows(void) {
  MPI_Win win;
  MPI_Aint bytes;
  int unit, *base;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Win_shared_query(win, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
  OK(MPI_Win_free(&win));
}

static void of_fences(void) {
  int *base, value = 1;
  MPI_Win win = int_window(4, &base), freed;
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC); /* nothing is open */
  CHECK_ERROR(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  CHECK_ERROR(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC); /* the put has not been completed */
  OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win));
  freed = win;
  OK(MPI_Win_free(&win));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Win_fence(0, freed), MPI_ERR_WIN);
  CHECK_ERROR(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  of_creation();
  of_places();
  of_accumulates();
  of_empty_parts_and_addresses();
  attributes_are_constant();
  of_requests();
  of_dynamic_windows();
  of_fences();
  return finish();
}
