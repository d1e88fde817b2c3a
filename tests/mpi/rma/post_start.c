/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.5.2: epochs among some processes by MPI_Win_post, start, complete, wait and test.
 * np: 1-8 */
#include "rma.h"

enum { kRounds = 100, kInts = 16 };

static MPI_Group group_of(const int* ranks, int count) {
  MPI_Group world, some;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, count, ranks, &some));
  OK(MPI_Group_free(&world));
  return some;
}

/* Each round all put into their right neighbour, which reads its memory behind the wait, and writes it
 * before the next post. */
static void ring(MPI_Win win, int* base, int post_assert, int start_assert) {
  const int size = world_size(), left = (world_rank() + size - 1) % size, right = (world_rank() + 1) % size;
  MPI_Group from = group_of(&left, 1), to = group_of(&right, 1);
  for (int round = 1; round <= kRounds; ++round) {
    int value = 1000 * world_rank() + round, seen = -1;
    base[1] = round; /* a store before the post is seen by who has started */
    OK(MPI_Win_post(from, post_assert, win));
    if (start_assert == MPI_MODE_NOCHECK) OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_start(to, start_assert, win));
    OK(MPI_Get(&seen, 1, MPI_INT, right, 1, 1, MPI_INT, win));
    OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    CHECK_EQ(seen, round);
    CHECK_EQ(base[0], 1000 * left + round);
  }
  OK(MPI_Group_free(&from));
  OK(MPI_Group_free(&to));
}

/* Rank 0 is the target of all others, some rounds by MPI_Win_test. A group may be freed at once. */
static void many_to_one(MPI_Win win, int* base) {
  int others[64], count = 0;
  MPI_Group group;
  const int zero = 0, one = 1;
  for (int rank = 1; rank < world_size(); ++rank) others[count++] = rank;
  for (int round = 1; round <= kRounds; ++round) {
    if (world_rank() == 0) {
      group = group_of(others, count);
      base[2] = 0;
      OK(MPI_Win_post(group, 0, win));
      OK(MPI_Group_free(&group));
      if (round % 2 == 0) {
        OK(MPI_Win_wait(win));
      } else {
        for (int flag = 0; !flag;) OK(MPI_Win_test(win, &flag));
      }
      CHECK_EQ(base[2], count);
    } else {
      group = group_of(&zero, 1);
      OK(MPI_Win_start(group, 0, win));
      OK(MPI_Group_free(&group));
      OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win));
      OK(MPI_Win_complete(win));
    }
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A target serves each origin in an epoch of its own: a slow one's completion is not taken for another's. */
static void one_after_the_other(MPI_Win win, int* base) {
  MPI_Group group;
  const int zero = 0;
  if (world_rank() == 0) {
    for (int round = 0; round < 10; ++round) {
      for (int origin = 1; origin < world_size(); ++origin) {
        base[3] = -1;
        group = group_of(&origin, 1);
        OK(MPI_Win_post(group, 0, win));
        OK(MPI_Win_wait(win));
        OK(MPI_Group_free(&group));
        CHECK_EQ(base[3], 100 * round + origin);
      }
    }
  } else {
    group = group_of(&zero, 1);
    for (int round = 0; round < 10; ++round) {
      const int value = 100 * round + world_rank();
      OK(MPI_Win_start(group, 0, win)); /* of all at once, before they are posted for */
      if (round % 2 == 0) OK(MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win));
      if (round % 2 != 0) OK(MPI_Accumulate(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_REPLACE, win));
      OK(MPI_Win_complete(win));
    }
    OK(MPI_Group_free(&group));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Epochs without an operation synchronise too; groups may be empty, hold the caller, or all. */
static void groups(MPI_Win win, int* base) {
  MPI_Group all;
  const int self = world_rank(), value = 5;
  int sum = 0, got[64];
  OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
  OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  MPI_Group own = group_of(&self, 1);
  OK(MPI_Win_post(own, MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win));
  OK(MPI_Win_start(own, 0, win));
  OK(MPI_Put(&value, 1, MPI_INT, self, 4, 1, MPI_INT, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  CHECK_EQ(base[4], 5);
  OK(MPI_Group_free(&own));
  OK(MPI_Win_get_group(win, &all));
  base[5] = self;
  OK(MPI_Win_post(all, 0, win));
  OK(MPI_Win_start(all, 0, win));
  for (int rank = 0; rank < world_size(); ++rank)
    OK(MPI_Get(&got[rank], 1, MPI_INT, rank, 5, 1, MPI_INT, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  for (int rank = 0; rank < world_size(); ++rank) sum += got[rank];
  CHECK_EQ(sum, world_size() * (world_size() - 1) / 2);
  base[6] = 0;
  OK(MPI_Win_post(all, 0, win));
  OK(MPI_Win_start(all, 0, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  OK(MPI_Group_free(&all));
}

/* The wait does not return before the origin has completed, nor does a test say so. */
static void waits(MPI_Win win) {
  int flag = 1;
  const int zero = 0, last = world_size() - 1;
  MPI_Group group;
  if (world_size() == 1) return;
  if (world_rank() == 0) {
    group = group_of(&last, 1);
    OK(MPI_Win_post(group, 0, win));
    OK(MPI_Win_test(win, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Send(&zero, 1, MPI_INT, last, 7, MPI_COMM_WORLD));
    OK(MPI_Win_wait(win));
    OK(MPI_Group_free(&group));
  } else if (world_rank() == last) {
    group = group_of(&zero, 1);
    OK(MPI_Recv(&flag, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_start(group, 0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Group_free(&group));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* What was counted for a window is not counted for the next one, which may lie in the same memory. */
static void anew(void) {
  int base[kInts];
  MPI_Win win;
  for (int time = 0; time < 12; ++time) {
    OK(MPI_Win_create(base, sizeof base, sizeof base[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ring(win, base, 0, 0);
    waits(win);
    OK(MPI_Win_free(&win));
  }
}

int main(int argc, char** argv) {
  int* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  win = int_window(kInts, &base);
  ring(win, base, 0, 0);
  ring(win, base, MPI_MODE_NOCHECK, MPI_MODE_NOCHECK);
  many_to_one(win, base);
  one_after_the_other(win, base);
  groups(win, base);
  waits(win);
  OK(MPI_Win_free(&win));
  anew();
  return finish();
}
