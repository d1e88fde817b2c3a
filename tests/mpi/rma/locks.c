/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.5.3, 12.5.4: locks exclude what they have to, and wrong calls are told.
 * np: 1-8 */
#include "rma.h"

enum { kRounds = 200 };

/* A counter that is read, added to and written back, by everybody, under an exclusive lock. */
static void exclusive_locks(MPI_Win win, int* base) {
  int value;
  for (int i = 0; i < kRounds; ++i) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_flush(0, win));
    ++value;
    OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank() == 0) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)); /* its own, too */
    CHECK_EQ(base[0], kRounds * world_size());
    OK(MPI_Win_unlock(0, win));
  }
}

/* base[1] counts those who hold the lock in the way that base[2] must not see, and the reverse. */
static void enter(MPI_Win win, int mine, int others, int alone) {
  int one = 1, before, there;
  OK(MPI_Fetch_and_op(&one, &before, MPI_INT, 0, mine, MPI_SUM, win));
  OK(MPI_Fetch_and_op(NULL, &there, MPI_INT, 0, others, MPI_NO_OP, win));
  OK(MPI_Win_flush(0, win));
  CHECK_EQ(there, 0);
  if (alone) CHECK_EQ(before, 0);
}
static void leave(MPI_Win win, int mine) {
  int less = -1, before;
  OK(MPI_Fetch_and_op(&less, &before, MPI_INT, 0, mine, MPI_SUM, win));
  OK(MPI_Win_flush(0, win));
  CHECK(before > 0);
}

/* Readers and a writer of one target; and all targets at once. */
static void kinds_of_locks(MPI_Win win) {
  for (int i = 0; i < kRounds; ++i) {
    const int kind = (i * 7 + world_rank() * 3) % 3;
    if (kind == 2) {
      OK(MPI_Win_lock_all(0, win));
    } else {
      OK(MPI_Win_lock(kind == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win));
    }
    enter(win, kind == 0 ? 1 : 2, kind == 0 ? 2 : 1, kind == 0);
    leave(win, kind == 0 ? 1 : 2);
    OK(kind == 2 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Who waits for others by taking its own lock in a loop lets them in. */
static void looking_at_the_own_window(MPI_Win win, int* base) {
  if (world_rank() == 0) base[3] = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 1; i <= 3 * kRounds; ++i) { /* minutes, if they are let in by chance only */
    const int one = 1, all = i * (world_size() - 1);
    int seen = -1;
    if (world_rank() != 0) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
      OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win));
      OK(MPI_Win_unlock(0, win));
    }
    while (world_rank() == 0 && seen != all) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
      OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 3, MPI_NO_OP, win));
      OK(MPI_Win_unlock(0, win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/* Everybody holds shared locks of all, taken in other orders, while some ask for exclusive ones. */
static void several_targets(MPI_Win win) {
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < kRounds / 4; ++i) {
    if ((i + rank) % 3 == 0) {
      const int target = (rank + i) % size;
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
      OK(MPI_Win_unlock(target, win));
      continue;
    }
    for (int j = 0; j < size; ++j) OK(MPI_Win_lock(MPI_LOCK_SHARED, (rank + j) % size, 0, win));
    for (int j = 0; j < size; ++j) OK(MPI_Win_unlock((rank + j) % size, win));
    if (size > 1 && i % 5 == 0) {
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
      OK(MPI_Win_unlock(0, win));
      OK(MPI_Win_unlock(1, win));
    }
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void unchecked_locks(MPI_Win win, int* base) {
  int value = 77;
  const int next = (world_rank() + 1) % world_size();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, win));
  OK(MPI_Put(&value, 1, MPI_INT, next, 3, 1, MPI_INT, win));
  OK(MPI_Win_unlock(next, win));
  OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  OK(MPI_Put(&value, 1, MPI_INT, next, 4, 1, MPI_INT, win));
  OK(MPI_Win_flush_all(win));
  OK(MPI_Win_flush_local(next, win));
  OK(MPI_Win_flush_local_all(win));
  OK(MPI_Win_sync(win));
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(base[3], 77);
  CHECK_EQ(base[4], 77);
}

static void wrong_calls(MPI_Win win) {
  int value = 1;
  MPI_Request request;
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, world_size(), 0, win), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Win_lock(12345, 0, 0, win), MPI_ERR_LOCKTYPE);
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
  CHECK_ERROR(MPI_Win_lock_all(MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
  CHECK_ERROR(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC); /* twice */
  CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  if (world_size() > 1) {
    CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC); /* another target */
    CHECK_ERROR(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
  }
  OK(MPI_Win_unlock(0, win));
  OK(MPI_Win_lock_all(0, win));
  CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_ERROR(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock_all(win));
  /* Those with a request are for passive targets alone. */
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)); /* the fence began nothing */
  OK(MPI_Win_unlock(0, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
  CHECK_ERROR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC); /* now it did */
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

int main(int argc, char** argv) {
  int* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  win = int_window(8, &base);
  exclusive_locks(win, base);
  kinds_of_locks(win);
  looking_at_the_own_window(win, base);
  several_targets(win);
  unchecked_locks(win, base);
  wrong_calls(win);
  OK(MPI_Win_free(&win));
  return finish();
}
