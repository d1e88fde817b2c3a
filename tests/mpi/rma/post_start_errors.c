/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.5.2, 12.5.5, 12.6.1: calls of MPI_Win_post and its kin that do not fit what is open.
 * np: 1-8 */
#include "rma.h"

static void nothing_is_open(MPI_Win win) {
  int flag = 7;
  CHECK_ERROR(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
}

static void assertions(MPI_Win win, MPI_Group own) {
  CHECK_ERROR(MPI_Win_start(own, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
  CHECK_ERROR(MPI_Win_post(own, MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
  CHECK_ERROR(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
}

/* A window of this process alone: the others are no members. */
static void strangers(void) {
  int *base, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Win alone;
  MPI_Group world;
  if (world_size() == 1) return;
  OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &alone));
  OK(MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN));
  OK(MPI_Win_set_name(alone, "private"));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_ERROR(MPI_Win_post(world, 0, alone), MPI_ERR_GROUP);
  code = MPI_Win_start(world, 0, alone);
  CHECK_EQ(check_class(code), MPI_ERR_GROUP);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "'private'") != NULL);
  nothing_is_open(alone);
  OK(MPI_Group_free(&world));
  OK(MPI_Win_free(&alone));
}

static void while_exposed(MPI_Win win, MPI_Group own) {
  int flag;
  OK(MPI_Win_post(own, 0, win));
  CHECK_ERROR(MPI_Win_post(own, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, world_rank(), 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_test(win, &flag));
  CHECK_EQ(flag, 0);
  CHECK_ERROR(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
}

/* The exposure epoch of while_exposed() is still open. */
static void while_started(MPI_Win win, MPI_Group own) {
  int value = 3;
  MPI_Request request;
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, world_rank(), 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_start(own, 0, win));
  CHECK_ERROR(MPI_Win_start(own, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_unlock(world_rank(), win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_flush(world_rank(), win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Rput(&value, 1, MPI_INT, world_rank(), 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  if (world_size() > 1) {
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, (world_rank() + 1) % world_size(), 0, 1, MPI_INT, win),
                MPI_ERR_RMA_SYNC); /* not in the group */
  }
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, world_rank(), 100, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  OK(MPI_Put(&value, 1, MPI_INT, world_rank(), 0, 1, MPI_INT, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
}

static void while_locked(MPI_Win win, MPI_Group own) {
  OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank(), 0, win));
  CHECK_ERROR(MPI_Win_start(own, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_post(own, 0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock(world_rank(), win));
  OK(MPI_Win_lock_all(0, win));
  CHECK_ERROR(MPI_Win_start(own, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_post(own, 0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock_all(win));
}

static void between_fences(MPI_Win win, MPI_Group own) {
  int value = 4;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 1, MPI_INT, world_rank(), 0, 1, MPI_INT, win));
  CHECK_ERROR(MPI_Win_start(own, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_post(own, 0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_post(own, 0, win)); /* nothing has followed the fence */
  OK(MPI_Win_start(own, 0, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  nothing_is_open(win);
}

int main(int argc, char** argv) {
  int *base, self;
  MPI_Win win;
  MPI_Group world, own;
  OK(MPI_Init(&argc, &argv));
  win = int_window(4, &base);
  self = world_rank();
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, 1, &self, &own));
  nothing_is_open(win);
  assertions(win, own);
  strangers();
  while_exposed(win, own);
  while_started(win, own);
  CHECK_EQ(base[0], 3);
  while_locked(win, own);
  between_fences(win, own);
  OK(MPI_Group_free(&own));
  OK(MPI_Group_free(&world));
  OK(MPI_Win_free(&win));
  return finish();
}
