/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, chapter 12: what is easily got wrong. Each function names its section.
 * np: 1-8 */
#include "rma.h"

#include <time.h>

static int left(void) { return (world_rank() + world_size() - 1) % world_size(); }
static int right(void) { return (world_rank() + 1) % world_size(); }

/* 12.2: ranks are those of the communicator, which may be freed before the window. */
static void ranks_of_the_communicator(void) {
  const int rank = world_rank(), size = world_size(), last = size - 1;
  int *base, got = -1;
  MPI_Comm backwards;
  MPI_Win win;
  MPI_Group members, world, one;
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &backwards));
  OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, backwards, &base, &win));
  OK(MPI_Comm_free(&backwards));
  *base = 100 + rank;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_EQ(got, 100 + last);
  /* A group of post and start may order them otherwise. */
  OK(MPI_Win_get_group(win, &members));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, 1, &last, &one));
  if (rank == last) OK(MPI_Win_post(world, 0, win));
  OK(MPI_Win_start(one, 0, win));
  OK(MPI_Accumulate(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
  OK(MPI_Win_complete(win));
  if (rank == last) {
    OK(MPI_Win_wait(win));
    CHECK_EQ(*base, 100 + last + size * (size - 1) / 2);
  }
  OK(MPI_Group_free(&one));
  OK(MPI_Group_free(&world));
  OK(MPI_Group_free(&members));
  OK(MPI_Win_free(&win));
}

/* 12.2.1: some have nothing, and nothing is what may be put there. */
static void empty_parts(void) {
  int *base, value = 3;
  MPI_Win win;
  const int mine = world_rank() % 2 == 0 ? 0 : 2;
  OK(MPI_Win_allocate(mine * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_fence(0, win));
  if (left() % 2 != 0) {
    OK(MPI_Put(&value, 1, MPI_INT, left(), 1, 1, MPI_INT, win));
  } else {
    OK(MPI_Put(&value, 0, MPI_INT, left(), 0, 0, MPI_INT, win));
  }
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (mine != 0) CHECK_EQ(base[1], 3);
  OK(MPI_Win_free(&win));
}

/* 12.2.5: nobody comes out of MPI_Win_free before all are in it. */
static void freeing_is_a_barrier(void) {
  const struct timespec some = {0, 30000000};
  int *base, *arrived, one = 1, seen = 0;
  MPI_Win win = int_window(1, &base), flags = int_window(1, &arrived);
  OK(MPI_Win_lock_all(0, flags));
  if (world_rank() == world_size() - 1) nanosleep(&some, NULL);
  OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, flags));
  OK(MPI_Win_flush(0, flags));
  OK(MPI_Win_free(&win));
  OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 0, MPI_NO_OP, flags));
  OK(MPI_Win_flush(0, flags));
  CHECK_EQ(seen, world_size());
  OK(MPI_Win_unlock_all(flags));
  OK(MPI_Win_free(&flags));
}

/* 12.3: a type with absolute addresses is fine at the origin. */
static void absolute_types(void) {
  int* base;
  const int one = 1;
  MPI_Aint address;
  MPI_Datatype absolute;
  MPI_Win win = int_window(4, &base);
  OK(MPI_Get_address(base, &address));
  OK(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute));
  OK(MPI_Type_commit(&absolute));
  OK(MPI_Win_fence(0, win));
  base[0] = 42;
  OK(MPI_Put(MPI_BOTTOM, 1, absolute, world_rank(), 1, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_EQ(base[1], 42);
  OK(MPI_Type_free(&absolute));
  OK(MPI_Win_free(&win));
}

/* 12.3.5: a flush completes what has a request, which has to be waited for all the same; behind the wait
 * an MPI_Rget's buffer is full, and the origin's buffer may be used again. */
static void requests(void) {
  int *base, out = 5, in = 0;
  MPI_Request request[2];
  MPI_Status status;
  MPI_Win win = int_window(2, &base);
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Rput(&out, 1, MPI_INT, right(), 0, 1, MPI_INT, win, &request[0]));
  OK(MPI_Win_flush(right(), win));
  OK(MPI_Rget(&in, 1, MPI_INT, right(), 0, 1, MPI_INT, win, &request[1]));
  OK(MPI_Win_flush_all(win));
  CHECK_EQ(in, 5);
  CHECK(request[0] != MPI_REQUEST_NULL && request[1] != MPI_REQUEST_NULL);
  OK(MPI_Wait(&request[1], &status));
  OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  CHECK(request[0] == MPI_REQUEST_NULL);
  for (int i = 0; i < 300; ++i) { /* a wait is enough to use the buffer again */
    out = i;
    OK(MPI_Rput(&out, 1, MPI_INT, right(), 1, 1, MPI_INT, win, &request[0]));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  }
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(base[1], 299);
  OK(MPI_Win_free(&win));
}

/* 12.3, 12.5: MPI_PROC_NULL is a target of operations; the epoch still has to end. */
static void null_targets(void) {
  int *base, value = 1, other = 2;
  MPI_Request request;
  MPI_Win win = int_window(1, &base);
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win)); /* programs do so at their edges */
  OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  OK(MPI_Win_flush(MPI_PROC_NULL, win));
  OK(MPI_Win_flush_local(MPI_PROC_NULL, win));
  OK(MPI_Win_unlock(MPI_PROC_NULL, win));
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Rget(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 9, 1, MPI_INT, MPI_SUM, win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &other, 1, MPI_INT, MPI_PROC_NULL, 9, 1, MPI_INT, MPI_SUM, win,
                         &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Get_accumulate(&value, 1, MPI_INT, &other, 1, MPI_INT, MPI_PROC_NULL, 9, 1, MPI_INT, MPI_SUM, win));
  CHECK_EQ(value, 1);
  CHECK_EQ(other, 2);
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Win_free(&win));
}

/* 12.5.3: where memory can be loaded and stored, a lock is held when MPI_Win_lock returns: plain loads and
 * stores are safe under it, without any call of MPI between. */
static void locks_guard_loads_and_stores(void) {
  enum { kRounds = 500 };
  int* base;
  volatile int* counter;
  int unit;
  MPI_Aint bytes;
  MPI_Win win;
  OK(MPI_Win_allocate_shared(world_rank() == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                             &base, &win));
  OK(MPI_Win_shared_query(win, 0, &bytes, &unit, (void*)&counter));
  if (world_rank() == 0) *counter = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < kRounds; ++i) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    *counter = *counter + 1;
    OK(MPI_Win_unlock(0, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(*counter, kRounds * world_size());
  OK(MPI_Win_free(&win));
}

/* 12.5.1: assertions about the own stores and others' puts may differ among the members of a fence. */
static void assertions_of_fences(void) {
  int *base, value = world_rank();
  MPI_Win win = int_window(2, &base);
  OK(MPI_Win_fence(world_rank() % 2 ? MPI_MODE_NOSTORE : 0, win));
  OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSTORE, win));
  CHECK_EQ(base[0], left());
  OK(MPI_Get(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win));
  CHECK_EQ(value, world_rank());
  OK(MPI_Win_free(&win));
}

/* 12.7.2: accumulates of one origin to one element come in the order of the calls. */
static void order_of_accumulates(void) {
  int *base, old, got;
  MPI_Win win = int_window(8, &base);
  OK(MPI_Win_lock_all(0, win));
  for (int i = 1; i <= 200; ++i) {
    const int next = i + 1;
    OK(MPI_Accumulate(&i, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_REPLACE, win)); /* write */
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_NO_OP, win));
    OK(MPI_Fetch_and_op(&next, &old, MPI_INT, right(), 0, MPI_REPLACE, win)); /* read, then write */
    OK(MPI_Win_flush(right(), win));
    CHECK_EQ(got, i);
    CHECK_EQ(old, i);
  }
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(base[0], 201);
  OK(MPI_Win_free(&win));
}

/* 12.7: windows know nothing of each other: epochs of several kinds at the same time. */
static void several_windows(void) {
  int *first, *second, *third, value = 8;
  MPI_Win fenced = int_window(1, &first), locked = int_window(1, &second), posted = int_window(1, &third);
  MPI_Group all;
  OK(MPI_Win_get_group(posted, &all));
  OK(MPI_Win_fence(0, fenced));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, locked));
  OK(MPI_Win_post(all, 0, posted));
  OK(MPI_Win_start(all, 0, posted));
  OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, fenced));
  OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, locked));
  OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, posted));
  OK(MPI_Win_unlock(right(), locked));
  OK(MPI_Win_complete(posted));
  OK(MPI_Win_wait(posted));
  CHECK_EQ(*third, 8);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced));
  CHECK_EQ(*first, 8);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(*second, 8);
  OK(MPI_Group_free(&all));
  OK(MPI_Win_free(&fenced));
  OK(MPI_Win_free(&locked));
  OK(MPI_Win_free(&posted));
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  ranks_of_the_communicator();
  empty_parts();
  freeing_is_a_barrier();
  absolute_types();
  requests();
  null_targets();
  locks_guard_loads_and_stores();
  assertions_of_fences();
  order_of_accumulates();
  several_windows();
  return finish();
}
