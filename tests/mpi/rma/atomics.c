/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.3.4, 12.7.1: what all ranks do at once to the same elements is done once each.
 * np: 1-8 */
#include "rma.h"

enum { kAll = 1000000, kWords = 1500 };

/* A million additions to one element in all, each with another old value. */
static void counters(MPI_Win win, long long* base) {
  const long long each = kAll / world_size(), one = 1;
  long long old, last = -1;
  OK(MPI_Win_lock_all(0, win));
  for (long long i = 0; i < each; ++i) {
    OK(MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, 0, 5, MPI_SUM, win));
    OK(MPI_Win_flush(0, win));
    CHECK(old > last);
    last = old;
  }
  OK(MPI_Win_flush(0, win));
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank() == 0) CHECK_EQ(base[5], each * world_size());
}

/* The same by compare and swap. */
static void swaps(MPI_Win win, long long* base) {
  long long seen = 0, next, old;
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  for (int i = 0; i < 20000; ++i) {
    for (;;) {
      next = seen + 1;
      OK(MPI_Compare_and_swap(&next, &seen, &old, MPI_LONG_LONG, 0, 6, win));
      OK(MPI_Win_flush(0, win));
      if (old == seen) break;
      seen = old;
    }
    seen = next;
  }
  OK(MPI_Win_unlock(0, win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank() == 0) CHECK_EQ(base[6], 20000LL * world_size());
}

/* Long vectors that overlap, beside single elements: across the borders of whatever is locked. */
static void vectors(MPI_Win win, long long* base) {
  static long long ones[kWords];
  const long long one = 1;
  long long old, expected[kWords] = {0};
  for (int i = 0; i < kWords; ++i) ones[i] = 1;
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < kWords; ++i) base[i] = 0;
  OK(MPI_Win_fence(0, win));
  for (int round = 0; round < 200; ++round) {
    const int from = round * 13 % 700, to = kWords - round * 7 % 600;
    OK(MPI_Accumulate(ones, to - from, MPI_LONG_LONG, 0, from, to - from, MPI_LONG_LONG, MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, 0, round, MPI_SUM, win));
    for (int i = from; i < to; ++i) ++expected[i];
    ++expected[round];
  }
  OK(MPI_Win_fence(0, win));
  if (world_rank() == 0)
    for (int i = 0; i < kWords; ++i) CHECK_EQ(base[i], expected[i] * world_size());
}

int main(int argc, char** argv) {
  long long* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Win_allocate(kWords * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  memset(base, 0, kWords * sizeof *base);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  counters(win, base);
  swaps(win, base);
  vectors(win, base);
  OK(MPI_Win_free(&win));
  return finish();
}
