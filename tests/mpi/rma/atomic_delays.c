/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.7.1: atomic operations of all ranks on the same elements, while a timer stops each rank now and
 * then wherever it is, also in the middle of one. STARLING_TESTS_FULL in the environment: 10^8 of them.
 * np: 1-8 */
#define _GNU_SOURCE
#include "rma.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { kElements = 4, kLong = 600, kVector = 40, kFlush = 16 };

static unsigned long long state;
static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

/* Others run while this rank has, perhaps, half done what must look undivided. */
static void stop_a_while(int number) {
  const struct timespec some = {0, 200000};
  (void)number;
  nanosleep(&some, NULL);
}

static void set_timer(int on) {
  struct itimerval every = {{0, 0}, {0, 0}};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = &stop_a_while;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  if (on) every.it_interval.tv_usec = every.it_value.tv_usec = 1700 + 300 * world_rank();
  setitimer(ITIMER_REAL, &every, NULL);
}

/* Adds one to an element; the number of operations that it took. */
static long add_by_swaps(MPI_Win win, int target, int element) {
  long long seen = 0, next, old;
  for (long tries = 1;; ++tries) {
    next = seen + 1;
    OK(MPI_Compare_and_swap(&next, &seen, &old, MPI_LONG_LONG, target, element, win));
    OK(MPI_Win_flush(target, win));
    if (old == seen) return tries;
    seen = old;
  }
}

/* Each does its part of `all` operations; what they have added must be there in the end. The elements, and
 * the vectors around any of them, lie across the border of two pages. */
static void adding(MPI_Win win, long long* base, long all) {
  static long long ones[kVector], own[8][kLong], sum[8][kLong];
  const long long one = 1;
  long long old;
  const int size = world_size();
  memset(own, 0, sizeof own);
  for (int i = 0; i < kVector; ++i) ones[i] = 1;
  for (int i = 0; i < kLong; ++i) base[i] = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, win));
  set_timer(1);
  for (long done = 0; done < all / size;) {
    const int target = (int)draw((unsigned)size), element = 510 + (int)draw(kElements);
    const unsigned kind = draw(64);
    if (kind == 0) {
      done += kVector;
      OK(MPI_Accumulate(ones, kVector, MPI_LONG_LONG, target, element - 20, kVector, MPI_LONG_LONG, MPI_SUM,
                        win));
      for (int i = 0; i < kVector; ++i) ++own[target][element - 20 + i];
    } else if (kind < 8) {
      done += add_by_swaps(win, target, element);
      ++own[target][element];
    } else if (kind < 32) {
      ++done;
      OK(MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, target, element, MPI_SUM, win));
      ++own[target][element];
    } else {
      ++done;
      OK(MPI_Accumulate(&one, 1, MPI_LONG_LONG, target, element, 1, MPI_LONG_LONG, MPI_SUM, win));
      ++own[target][element];
    }
    if (draw(kFlush) == 0) OK(MPI_Win_flush(target, win));
  }
  set_timer(0);
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Allreduce(own, sum, 8 * kLong, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank(), 0, win));
  for (int i = 0; i < kLong; ++i) CHECK_EQ(base[i], sum[world_rank()][i]);
  OK(MPI_Win_unlock(world_rank(), win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  const int full = getenv("STARLING_TESTS_FULL") != NULL;
  long long* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  state = 99 + (unsigned long long)world_rank();
  OK(MPI_Win_allocate(kLong * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  adding(win, base, full ? 100000000 : 400000);
  OK(MPI_Win_free(&win));
  base = malloc(kLong * sizeof *base);
  OK(MPI_Win_create(base, kLong * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  adding(win, base, full ? 1000000 : 40000);
  OK(MPI_Win_free(&win));
  free(base);
  return finish();
}
