/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.2.4: dynamic windows: memory attached and detached by each process alone, named by addresses.
 * np: 1-8 */
#include "rma.h"

enum { kInts = 30000, kMost = 8 };

static MPI_Win made(void) {
  MPI_Win win;
  void* value;
  int flag;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
  CHECK(flag && *(int*)value == MPI_WIN_FLAVOR_DYNAMIC);
  OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
  CHECK(flag && value == MPI_BOTTOM);
  return win;
}

/* Only the last rank attaches; all reach it. */
static void one_attaches(MPI_Win win) {
  const int last = world_size() - 1, rank = world_rank();
  static int memory[kInts], from[kInts], to[kInts];
  MPI_Aint address = 0;
  int one = 1, got = -1;
  MPI_Datatype gaps;
  for (int i = 0; i < kInts; ++i) from[i] = i + 1;
  memset(memory, 0, sizeof memory);
  if (rank == last) {
    OK(MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Get_address(memory, &address));
  }
  OK(MPI_Bcast(&address, 1, MPI_AINT, last, MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Accumulate(&one, 1, MPI_INT, last, address, 1, MPI_INT, MPI_SUM, win));
  OK(MPI_Fetch_and_op(&one, &got, MPI_INT, last, MPI_Aint_add(address, sizeof(int)), MPI_SUM, win));
  OK(MPI_Win_flush(last, win));
  CHECK(got >= 0 && got < world_size());
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == last) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
    CHECK_EQ(memory[0], world_size());
    CHECK_EQ(memory[1], world_size());
    OK(MPI_Win_unlock(last, win));
  }
  OK(MPI_Type_vector(kInts / 2, 1, 2, MPI_INT, &gaps));
  OK(MPI_Type_commit(&gaps));
  OK(MPI_Win_fence(0, win));
  if (rank == 0) OK(MPI_Put(from, kInts / 2, MPI_INT, last, address, 1, gaps, win));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get(to, kInts, MPI_INT, last, address, kInts, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(to[i], i % 2 == 0 ? i / 2 + 1 : i == 1 ? world_size() : 0);
  OK(MPI_Type_free(&gaps));
  if (rank == last) OK(MPI_Win_detach(win, memory));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Attached again elsewhere, several pieces: each rank's own, on all ranks. */
static void all_attach(MPI_Win win) {
  int *pieces[3], value, rank = world_rank(), size = world_size();
  MPI_Aint mine[3], all[kMost * 3];
  for (int i = 0; i < 3; ++i) {
    pieces[i] = calloc(10, sizeof(int));
    OK(MPI_Win_attach(win, pieces[i], 10 * sizeof(int)));
    OK(MPI_Get_address(pieces[i], &mine[i]));
  }
  OK(MPI_Allgather(mine, 3, MPI_AINT, all, 3, MPI_AINT, MPI_COMM_WORLD));
  for (int target = 0; target < size; ++target) {
    value = 100 * rank + target;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    OK(MPI_Put(&value, 1, MPI_INT, target, MPI_Aint_add(all[3 * target + 2], rank * (MPI_Aint)sizeof(int)), 1,
               MPI_INT, win));
    OK(MPI_Win_unlock(target, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  for (int origin = 0; origin < size; ++origin) CHECK_EQ(pieces[2][origin], 100 * origin + rank);
  OK(MPI_Win_unlock(rank, win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < 3; ++i) {
    OK(MPI_Win_detach(win, pieces[i]));
    free(pieces[i]);
  }
}

/* Pieces that follow each other are one piece to the others, until the second one is detached. */
static void neighbours(MPI_Win win) {
  static int memory[30], got[30];
  const int rank = world_rank(), size = world_size(), next = (rank + 1) % size;
  MPI_Aint mine, all[kMost];
  int rc;
  for (int i = 0; i < 30; ++i) memory[i] = 30 * rank + i;
  OK(MPI_Win_attach(win, memory + 10, 10 * sizeof(int)));
  OK(MPI_Win_attach(win, memory, 10 * sizeof(int)));
  OK(MPI_Win_attach(win, memory + 20, 10 * sizeof(int)));
  OK(MPI_Get_address(memory, &mine));
  OK(MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
  OK(MPI_Get(got, 30, MPI_INT, next, all[next], 30, MPI_INT, win));
  OK(MPI_Win_flush(next, win));
  for (int i = 0; i < 30; ++i) CHECK_EQ(got[i], 30 * next + i);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_detach(win, memory + 10));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int first = 0; first <= 10; first += 10) { /* over what was detached, and of it alone */
    rc = MPI_Get(got, 20 - first, MPI_INT, next, MPI_Aint_add(all[next], first * (MPI_Aint)sizeof(int)),
                 20 - first, MPI_INT, win);
    if (rc == MPI_SUCCESS) rc = MPI_Win_flush(next, win);
    CHECK_EQ(check_class(rc), MPI_ERR_RMA_RANGE);
  }
  OK(MPI_Win_unlock(next, win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_detach(win, memory));
  OK(MPI_Win_detach(win, memory + 20));
}

/* More pieces than the processes of a node tell each other of: the others are found all the same. */
static void many_pieces(MPI_Win win) {
  enum { kPieces = 80, kApart = 4 };
  static int memory[kPieces * kApart];
  const int next = (world_rank() + 1) % world_size();
  int got[kPieces];
  MPI_Aint mine, all[kMost];
  for (int i = 0; i < kPieces; ++i) {
    memory[i * kApart] = 100 * world_rank() + i;
    OK(MPI_Win_attach(win, &memory[i * kApart], sizeof(int)));
  }
  OK(MPI_Get_address(memory, &mine));
  OK(MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
  for (int i = 0; i < kPieces; ++i)
    OK(MPI_Get(&got[i], 1, MPI_INT, next, MPI_Aint_add(all[next], i * kApart * (MPI_Aint)sizeof(int)), 1,
               MPI_INT, win));
  OK(MPI_Win_unlock(next, win));
  for (int i = 0; i < kPieces; ++i) CHECK_EQ(got[i], 100 * next + i);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < kPieces; ++i) OK(MPI_Win_detach(win, &memory[i * kApart]));
}

/* What is not attached is an error at the origin: at once, or when it waits for the operation. */
static void errors(MPI_Win win) {
  static int memory[10];
  const int target = (world_rank() + 1) % world_size();
  int value = 1, rc;
  MPI_Aint address;
  CHECK_ERROR(MPI_Win_detach(win, memory), MPI_ERR_RMA_ATTACH);
  OK(MPI_Win_attach(win, memory, sizeof memory));
  CHECK_ERROR(MPI_Win_attach(win, memory + 5, sizeof memory), MPI_ERR_RMA_ATTACH);
  CHECK_ERROR(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_ATTACH);
  OK(MPI_Get_address(&value, &address)); /* on the stack: attached nowhere */
  OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  rc = MPI_Put(&value, 1, MPI_INT, target, address, 1, MPI_INT, win);
  if (rc == MPI_SUCCESS) rc = MPI_Win_flush(target, win);
  CHECK_EQ(check_class(rc), MPI_ERR_RMA_RANGE);
  OK(MPI_Win_flush(target, win));
  OK(MPI_Win_unlock(target, win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_detach(win, memory));
}

int main(int argc, char** argv) {
  MPI_Win win;
  int* base;
  OK(MPI_Init(&argc, &argv));
  win = made();
  one_attaches(win);
  all_attach(win);
  neighbours(win);
  many_pieces(win);
  errors(win);
  OK(MPI_Win_free(&win));
  win = int_window(4, &base);
  CHECK_ERROR(MPI_Win_attach(win, base, 4), MPI_ERR_RMA_FLAVOR);
  OK(MPI_Win_free(&win));
  return finish();
}
