/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of ranks 1 and 2 on rank 0's part, which overlap in an epoch or do not: one window for each way,
 * with its name. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, out[64], in[64];
static MPI_Win win;

static void open_window(const char* name) {
  int* base;
  MPI_Win_allocate(256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_name(win, name);
}

static void close_window(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* Each puts four ints, of which two are the other's too, unless `apart`. */
static void put_some(int apart) {
  if (rank != 0) MPI_Put(out, 4, MPI_INT, 0, rank * (apart ? 4 : 2), 4, MPI_INT, win);
}

static void between_fences(void) {
  open_window("puts");
  MPI_Win_fence(0, win);
  put_some(0);
  MPI_Win_fence(0, win);
  put_some(1);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  close_window();
  open_window("put and get");
  MPI_Win_fence(0, win);
  if (rank == 1) MPI_Put(out, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  if (rank == 2) MPI_Get(in, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  close_window();
  open_window("several fences");
  for (int i = 0; i < 3; ++i) {
    MPI_Win_fence(0, win);
    if (rank == 1 + i % 2) MPI_Put(out, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  close_window();
}

/* Nothing of this is undefined. */
static void harmless(void) {
  const int origin = 1 + rank;
  MPI_Datatype other;
  open_window("harmless");
  MPI_Type_vector(8, 1, 3, MPI_INT, &other);
  MPI_Type_commit(&other);
  MPI_Win_fence(0, win);
  MPI_Put(out, 8, MPI_INT, 0, origin % 3, 1, other, win); /* between each other's */
  MPI_Win_fence(0, win);
  MPI_Get(in, 8, MPI_INT, 0, 0, 8, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(out, 8, MPI_INT, 0, 0, 8, MPI_INT, MPI_SUM, win);
  MPI_Accumulate(out, 8, MPI_INT, 0, 0, 8, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Type_free(&other);
  close_window();
}

static void passive(const char* name, int flush) {
  open_window(name);
  MPI_Win_lock_all(0, win);
  if (rank == 1) put_some(0);
  if (rank == 1 && flush) MPI_Win_flush(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) put_some(0);
  MPI_Barrier(MPI_COMM_WORLD); /* rank 1's put is not complete before */
  MPI_Win_unlock_all(win);
  close_window();
}

static void posted(void) {
  MPI_Group all, some;
  const int others[2] = {1, 2}, zero = 0;
  open_window("posted");
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < 4; ++i) { /* in the second alone there is an overlap */
    MPI_Group_incl(all, rank == 0 ? 2 : 1, rank == 0 ? others : &zero, &some);
    if (rank == 0) {
      MPI_Win_post(some, 0, win);
      MPI_Win_wait(win);
    } else {
      MPI_Win_start(some, 0, win);
      if (i == 1 || rank == 1 + i % 2) put_some(0);
      MPI_Win_complete(win);
    }
    MPI_Group_free(&some);
  }
  MPI_Group_free(&all);
  close_window();
}

/* Told eight times at most, for each origin. */
static void many(void) {
  open_window("many");
  MPI_Win_lock_all(0, win);
  for (int i = 0; rank == 1 && i < 100; ++i) MPI_Put(out, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  MPI_Win_unlock_all(win);
  close_window();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  between_fences();
  harmless();
  passive("not flushed", 0);
  passive("flushed", 1);
  posted();
  many();
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}
