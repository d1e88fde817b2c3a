/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks but the first wait, asleep, for what they can hold together: shared locks, or all targets, while
 * the first has an exclusive lock. When that one is given back all come in before any leaves: who has come in
 * wakes the next one. Or they hold it one by one; or they wait for the first one's MPI_Win_complete, or post.
 * Usage: meeting shared | all | exclusive | complete | post */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void nap(long ms) {
  const struct timespec some = {0, ms * 1000000};
  nanosleep(&some, NULL);
}

/* The first one is late for what all others wait for. */
static void late(int rank, MPI_Win win, int complete) {
  MPI_Group all, first, others;
  const int zero = 0;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &zero, &first);
  MPI_Group_excl(all, 1, &zero, &others);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && complete) {
    MPI_Win_start(others, 0, win);
    nap(150);
    MPI_Win_complete(win);
    nap(150); /* nothing else wakes them meanwhile */
  } else if (rank == 0) {
    nap(150);
    MPI_Win_post(others, 0, win);
    MPI_Win_wait(win);
  } else if (complete) {
    MPI_Win_post(first, 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(first, 0, win);
    MPI_Win_complete(win);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&first);
  MPI_Group_free(&others);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  const int one = strcmp(way, "exclusive") == 0, complete = strcmp(way, "complete") == 0;
  const int all = argc > 1 && strcmp(argv[1], "all") == 0;
  MPI_Aint bytes;
  MPI_Win win;
  atomic_int *mine, *arrived;
  int rank, size, unit;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&mine, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, (void*)&arrived);
  for (int round = 1; round <= 3; ++round) {
    if (complete || strcmp(way, "post") == 0) {
      late(rank, win, complete);
      continue;
    }
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      nap(150);
      MPI_Win_unlock(0, win);
    } else if (one) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      nap(2);
      MPI_Win_unlock(0, win);
    } else {
      if (all) MPI_Win_lock_all(0, win);
      if (!all) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      atomic_fetch_add(arrived, 1);
      while (atomic_load(arrived) < round * (size - 1)) nap(1);
      if (all) MPI_Win_unlock_all(win);
      if (!all) MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  if (rank == 0) printf("all met\n");
  return 0;
}
