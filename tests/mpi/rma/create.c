/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.2.2: windows in memory that the program brings: its own, and MPI_Alloc_mem's.
 * np: 1-8 */
#include "rma.h"

enum { kInts = 40000 }; /* MPI_Alloc_mem's can be mapped from 64 KiB on */

/* Into every second element there, from every third here, and back. */
static void with_gaps(MPI_Win win, int* base) {
  const int rank = world_rank(), size = world_size(), target = (rank + 1) % size;
  static int from[3 * kInts / 2], to[3 * kInts / 2];
  MPI_Datatype there, here;
  for (int i = 0; i < 3 * kInts / 2; ++i) {
    from[i] = 7 * i + rank;
    to[i] = -1;
  }
  OK(MPI_Type_vector(kInts / 2, 1, 2, MPI_INT, &there));
  OK(MPI_Type_vector(kInts / 2, 1, 3, MPI_INT, &here));
  OK(MPI_Type_commit(&there));
  OK(MPI_Type_commit(&here));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(from, 1, here, target, 0, 1, there, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < kInts; ++i)
    CHECK_EQ(base[i], i % 2 == 0 ? 7 * 3 * (i / 2) + (rank + size - 1) % size : 0);
  OK(MPI_Get(to, 1, here, target, 0, 1, there, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 3 * (kInts / 2); ++i) CHECK_EQ(to[i], i % 3 == 0 ? from[i] : -1);
  OK(MPI_Get(to, kInts / 2, MPI_INT, target, 0, 1, there, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < kInts / 2; ++i) CHECK_EQ(to[i], from[3 * i]);
  OK(MPI_Type_free(&there));
  OK(MPI_Type_free(&here));
  memset(base, 0, kInts * sizeof *base);
  OK(MPI_Win_fence(0, win));
}

/* Adds to every second element there, twice; what was there comes to every third here. */
static void long_accumulate(MPI_Win win, int* base) {
  const int target = (world_rank() + 1) % world_size();
  static int from[kInts / 2], to[3 * kInts / 2];
  MPI_Datatype there, here;
  OK(MPI_Type_vector(kInts / 2, 1, 2, MPI_INT, &there));
  OK(MPI_Type_vector(kInts / 2, 1, 3, MPI_INT, &here));
  OK(MPI_Type_commit(&there));
  OK(MPI_Type_commit(&here));
  for (int i = 0; i < kInts / 2; ++i) from[i] = i + 1;
  OK(MPI_Win_fence(0, win));
  for (int time = 1; time <= 2; ++time) {
    OK(MPI_Get_accumulate(from, kInts / 2, MPI_INT, to, 1, here, target, 0, 1, there, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < kInts; ++i) CHECK_EQ(base[i], i % 2 == 0 ? time * (i / 2 + 1) : 0);
    for (int i = 0; i < kInts / 2; ++i) CHECK_EQ(to[3 * i], (time - 1) * (i + 1));
    OK(MPI_Win_fence(0, win));
  }
  OK(MPI_Type_free(&there));
  OK(MPI_Type_free(&here));
  memset(base, 0, kInts * sizeof *base);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* All add to the same elements of rank 0, which does nothing, and count by two kinds of atomics. */
static void atomics(MPI_Win win, int* base) {
  enum { kTimes = 300, kLong = 1000 };
  const int size = world_size();
  int ones[kLong], got, before, next, one = 1;
  for (int i = 0; i < kLong; ++i) ones[i] = 1;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, win));
  for (int time = 0; time < kTimes; ++time) {
    OK(MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, win));
    OK(MPI_Accumulate(ones, kLong, MPI_INT, 0, 100, kLong, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_flush(0, win));
    CHECK(got >= time && got < size * kTimes);
    OK(MPI_Fetch_and_op(NULL, &before, MPI_INT, 0, 1, MPI_NO_OP, win));
    OK(MPI_Win_flush(0, win));
    do {
      got = before;
      next = before + 2;
      OK(MPI_Compare_and_swap(&next, &got, &before, MPI_INT, 0, 1, win));
      OK(MPI_Win_flush(0, win));
    } while (before != got);
  }
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank(), 0, win));
  if (world_rank() == 0) {
    CHECK_EQ(base[0], size * kTimes);
    CHECK_EQ(base[1], 2 * size * kTimes);
    for (int i = 0; i < kLong; ++i) CHECK_EQ(base[100 + i], size * kTimes);
  }
  memset(base, 0, kInts * sizeof *base);
  OK(MPI_Win_unlock(world_rank(), win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void bounds(MPI_Win win) {
  int value = 1;
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Put(&value, 1, MPI_INT, 0, kInts, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, kInts, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  OK(MPI_Put(&value, 1, MPI_INT, 0, kInts - 1, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void attributes(MPI_Win win, int* base) {
  void* value;
  int flag;
  OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
  CHECK(flag && value == base);
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
  CHECK(flag && *(int*)value == MPI_WIN_FLAVOR_CREATE);
  OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
  CHECK(flag && *(MPI_Aint*)value == kInts * (MPI_Aint)sizeof(int));
}

static void life_of(int* base) {
  MPI_Win win;
  memset(base, 0, kInts * sizeof *base);
  OK(MPI_Win_create(base, kInts * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  attributes(win, base);
  with_gaps(win, base);
  long_accumulate(win, base);
  atomics(win, base);
  bounds(win);
  OK(MPI_Win_free(&win));
}

/* Some members bring nothing; and NULL is no memory. */
static void nothing(void) {
  int value = 3, got = 0;
  MPI_Win win;
  OK(MPI_Win_create(world_rank() == 0 ? &value : NULL, world_rank() == 0 ? sizeof value : 0, 1, MPI_INFO_NULL,
                    MPI_COMM_WORLD, &win));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(got, 3);
  OK(MPI_Win_free(&win));
#if MPI_VERSION >= 4
  OK(MPI_Win_create_c(&value, sizeof value, (MPI_Aint)sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_fence(0, win));
  got = world_rank();
  OK(MPI_Put(&got, 1, MPI_INT, (world_rank() + 1) % world_size(), 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(value, (world_rank() + world_size() - 1) % world_size());
  OK(MPI_Win_free(&win));
#endif
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_ARG);
  CHECK(win == MPI_WIN_NULL);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char** argv) {
  static int own[kInts];
  int* given;
  OK(MPI_Init(&argc, &argv));
  life_of(own);
  OK(MPI_Alloc_mem(kInts * sizeof *given, MPI_INFO_NULL, &given));
  life_of(given);
  OK(MPI_Free_mem(given));
  nothing();
  return finish();
}
