/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.2.3: memory of a window that all its members load and store.
 * np: 1-8 */
#include "rma.h"

#include <stdint.h>

/* Rank r has r * 5 bytes: by default they follow each other without a gap, whatever the alignment. */
static void parts_are_contiguous(void) {
  const int rank = world_rank(), size = world_size();
  char *mine, *first, *other;
  MPI_Aint bytes;
  place_t unit;
  MPI_Win win;
  OK(MPI_Win_allocate_shared(rank * 5, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first));
  if (size > 1) {
    CHECK_EQ(bytes, 5);
    CHECK_EQ(unit, 1);
    CHECK((uintptr_t)first % 8 == 0);
  } else {
    CHECK_EQ(bytes, 0);
  }
  for (int i = 1, before = 0; i < size; before += 5 * i, ++i) {
    OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
    CHECK_EQ(bytes, 5 * i);
    CHECK(other == first + before);
    if (i == rank) CHECK(other == mine);
  }
  OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
}

/* A window whose parts may lie apart; this process has `count` ints of it. */
static MPI_Win parts_apart(int count, int** mine) {
  MPI_Win win;
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
  OK(MPI_Win_allocate_shared(count * (MPI_Aint)sizeof(int), sizeof(int), info, MPI_COMM_WORLD, mine, &win));
  OK(MPI_Info_free(&info));
  return win;
}

/* Each part on its own where all say so. */
static void parts_need_not_be_contiguous(void) {
  int *mine, *other;
  place_t unit;
  MPI_Aint bytes;
  MPI_Win win = parts_apart(1, &mine);
  *mine = world_rank() + 1;
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < world_size(); ++i) {
    OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
    CHECK_EQ(unit, (int)sizeof(int));
    CHECK((uintptr_t)other % sizeof(double) == 0);
    CHECK_EQ(*other, i + 1);
  }
  OK(MPI_Win_free(&win));
}

/* Where parts lie apart, one of no bytes lies nowhere. */
static void empty_parts_apart(void) {
  int *mine, *other;
  place_t unit;
  MPI_Aint bytes;
  MPI_Win win = parts_apart(world_rank() % 2 == 0 ? 1 : 0, &mine);
  for (int i = 0; i < world_size(); ++i) {
    OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
    CHECK_EQ(bytes, i % 2 == 0 ? (int)sizeof(int) : 0);
    CHECK((other == NULL) == (i % 2 != 0));
  }
  OK(MPI_Win_free(&win));
}

/* What is stored here is loaded there, and it begins as zeros. */
static void stores_are_seen(void) {
  const int rank = world_rank(), size = world_size(), next = (rank + 1) % size;
  volatile int *mine, *other;
  place_t unit;
  MPI_Aint bytes;
  MPI_Win win;
  OK(MPI_Win_allocate_shared(1000 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&mine,
                             &win));
  for (int i = 0; i < 1000; ++i) CHECK_EQ(mine[i], 0);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_shared_query(win, next, &bytes, &unit, (void*)&other));
  CHECK_EQ(bytes, 1000 * (int)sizeof(int));
  for (int i = 0; i < 1000; ++i) other[i] = 10 * rank + i;
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 1000; ++i) CHECK_EQ(mine[i], 10 * ((rank + size - 1) % size) + i);
  OK(MPI_Win_free(&win));
}

/* Any size takes the same time and no memory that is not touched: more than most machines have. */
static void size_costs_nothing(void) {
  const MPI_Aint each = (MPI_Aint)1 << 34;
  char *mine, *other;
  place_t unit;
  MPI_Aint bytes;
  MPI_Win win;
  OK(MPI_Win_allocate_shared(each, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
  mine[each - 1] = (char)(world_rank() + 1);
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < world_size(); ++i) {
    OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
    CHECK_EQ(bytes, each);
    CHECK_EQ(other[each - 1], i + 1);
  }
  OK(MPI_Win_free(&win));
}

/* Nobody has any. */
static void empty_windows(void) {
  int* mine;
  place_t unit = 0;
  MPI_Aint bytes = 1;
  MPI_Win win;
  OK(MPI_Win_allocate_shared(0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &mine));
  CHECK_EQ(bytes, 0);
  CHECK(mine == NULL);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_free(&win));
}

/* Since 4.1 an allocated window can be asked, too. */
static void allocated_windows_too(void) {
  int *mine, *other;
  place_t unit;
  MPI_Aint bytes;
  MPI_Win win;
  OK(MPI_Win_allocate((MPI_Aint)sizeof(int) * (1 + world_rank()), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                      &win));
  *mine = world_rank();
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < world_size(); ++i) {
    OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
    CHECK_EQ(bytes, (int)sizeof(int) * (1 + i));
    CHECK_EQ(*other, i);
  }
  OK(MPI_Win_free(&win));
}

/* Since 4.1 memory of the program's own, too: it may be that nobody else can load from it. MPI_PROC_NULL
 * means the lowest rank that has brought any, rank 1 here, also where that one's memory cannot be had. */
static void the_programs_memory(void) {
  static int mine[4];
  int *queried, *first;
  place_t unit;
  MPI_Aint bytes, first_bytes;
  MPI_Win win;
  if (world_size() < 2) return;
  OK(MPI_Win_create(mine, world_rank() == 0 ? 0 : (MPI_Aint)sizeof mine, 4, MPI_INFO_NULL, MPI_COMM_WORLD,
                    &win));
  OK(MPI_Win_shared_query(win, 1, &bytes, &unit, &queried));
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &first_bytes, &unit, &first));
  CHECK_EQ(first_bytes, bytes);
  CHECK(first == queried);
  if (world_rank() == 1) CHECK(bytes == (MPI_Aint)sizeof mine && queried == mine);
  if (world_rank() != 1 && bytes == 0) CHECK(queried == NULL);
  OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  parts_are_contiguous();
  parts_need_not_be_contiguous();
  empty_parts_apart();
  stores_are_seen();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  size_costs_nothing();
  allocated_windows_too();
  the_programs_memory();
#else
  (void)the_programs_memory;
  (void)size_costs_nothing;
  (void)allocated_windows_too;
#endif
  empty_windows();
  return finish();
}
