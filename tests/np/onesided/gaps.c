/* SPDX-License-Identifier: BSD-3-Clause
 * Elements with gaps in the program's own memory, and how often the kernel is asked to copy them: its calls
 * are counted by functions in their place. Rank 0 works on the memory of all others, who wait. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { kInts = 3000, kShift = 7 };

static int calls;

ssize_t process_vm_readv(pid_t pid, const struct iovec* local, unsigned long locals,
                         const struct iovec* remote, unsigned long remotes, unsigned long flags) {
  ++calls;
  return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec* local, unsigned long locals,
                          const struct iovec* remote, unsigned long remotes, unsigned long flags) {
  ++calls;
  return syscall(SYS_process_vm_writev, pid, local, locals, remote, remotes, flags);
}

/* Every other int. */
static MPI_Datatype regular(void) {
  MPI_Datatype type;
  OK(MPI_Type_vector(kInts / 3, 1, 2, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  return type;
}

/* Blocks of one to four ints at distances that follow no rule; one of them crosses a page. */
static MPI_Datatype irregular(void) {
  int lengths[kInts], places[kInts], blocks = 0;
  for (int at = 0; at + 4 < kInts; at += lengths[blocks - 1] + 1 + at % 3) {
    lengths[blocks] = at > 1013 && at <= 1017 ? 4 : 1 + at % 4;
    places[blocks++] = at;
  }
  MPI_Datatype type;
  OK(MPI_Type_indexed(blocks, lengths, places, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  return type;
}

static int mine[kInts + kShift], were[kInts], ones[kInts];

/* What the target's memory has, and nothing beside the elements has changed. */
static void expect(MPI_Datatype type, int factor) {
  char is[kInts] = {0};
  int position = 0, size;
  static int packed[kInts], spread[kInts];
  OK(MPI_Type_size(type, &size));
  for (int i = 0; i < size / 4; ++i) packed[i] = 1;
  memset(spread, 0, sizeof spread);
  OK(MPI_Unpack(packed, size, &position, spread, 1, type, MPI_COMM_SELF));
  for (int i = 0; i < kInts; ++i) is[i] = (char)spread[i];
  for (int i = 0; i < kInts; ++i) CHECK_EQ(mine[kShift + i], is[i] ? i + factor : i);
}

static void all_ways(MPI_Datatype type) {
  MPI_Win win;
  int size, rank = world_rank(), most = 0;
  OK(MPI_Type_size(type, &size));
  for (int i = 0; i < kInts; ++i) mine[kShift + i] = i;
  for (int i = 0; i < kInts; ++i) ones[i] = 1;
  OK(MPI_Win_create(mine, sizeof mine, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int target = 1; rank == 0 && target < world_size(); ++target) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    calls = 0;
    OK(MPI_Accumulate(ones, size / 4, MPI_INT, target, kShift, 1, type, MPI_SUM, win));
    OK(MPI_Win_flush(target, win));
    most = calls > most ? calls : most;
    memset(were, 0, sizeof were);
    OK(MPI_Get_accumulate(ones, size / 4, MPI_INT, were, 1, type, target, kShift, 1, type, MPI_SUM, win));
    OK(MPI_Win_flush(target, win));
    for (int i = 0; i < kInts; ++i) CHECK(were[i] == 0 || were[i] == i + 1);
    CHECK_EQ(were[2] != 0, 1);
    memset(were, 0, sizeof were);
    OK(MPI_Get(were, 1, type, target, kShift, 1, type, win));
    OK(MPI_Win_flush(target, win));
    for (int i = 0; i < kInts; ++i) CHECK(were[i] == 0 || were[i] == i + 2);
    for (int i = 0; i < kInts; ++i) were[i] += were[i] != 0;
    OK(MPI_Put(were, 1, type, target, kShift, 1, type, win));
    OK(MPI_Win_unlock(target, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank != 0) expect(type, 3);
  OK(MPI_Win_free(&win));
  if (rank == 0) printf("%d calls\n", most);
}

int main(int argc, char** argv) {
  MPI_Datatype types[2];
  OK(MPI_Init(&argc, &argv));
  types[0] = regular();
  types[1] = irregular();
  for (int i = 0; i < 2; ++i) {
    all_ways(types[i]);
    OK(MPI_Type_free(&types[i]));
  }
  return finish();
}
