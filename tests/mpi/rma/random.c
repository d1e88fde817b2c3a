/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.7: random operations of all ranks, by all ways to synchronise and in windows of all kinds,
 * against a memory that each rank computes for itself.
 * np: 1-8
 *
 * Of each target's words the first part is put to, each origin into words of its own; the second is added to,
 * the third combined by exclusive or: by all, in any order. */
#include "rma.h"

enum { kMost = 8, kOwn = 64, kShared = 200, kWords = kMost * kOwn + 2 * kShared, kRounds = 60, kEach = 12 };

static unsigned model[kMost][kWords];
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

/* One operation: all ranks draw all of them, each calls its own. */
static void operation(MPI_Win win, int origin, int mine) {
  const int target = (int)draw((unsigned)world_size());
  const unsigned kind = draw(4), step = 1 + draw(3);
  unsigned data[kOwn], count;
  MPI_Datatype type;
  int at;
  for (int i = 0; i < kOwn; ++i) data[i] = draw(1000000);
  if (kind < 2) {
    count = 1 + draw(kOwn / step);
    at = origin * kOwn + (int)draw(kOwn - (count - 1) * step);
  } else {
    count = 1 + draw(kOwn);
    at = kMost * kOwn + (kind == 3 ? kShared : 0) + (int)draw(kShared - (count - 1) * step);
  }
  for (unsigned i = 0; i < count; ++i) {
    unsigned* const word = &model[target][at + (int)(i * step)];
    *word = kind < 2 ? data[i] : kind == 2 ? *word + data[i] : (*word ^ data[i]);
  }
  if (!mine) return;
  OK(MPI_Type_vector((int)count, 1, (int)step, MPI_UNSIGNED, &type));
  OK(MPI_Type_commit(&type));
  if (kind < 2) {
    OK(MPI_Put(data, (int)count, MPI_UNSIGNED, target, at, 1, type, win));
  } else if (kind == 2) {
    OK(MPI_Accumulate(data, (int)count, MPI_UNSIGNED, target, at, 1, type, MPI_SUM, win));
  } else {
    OK(MPI_Accumulate(data, (int)count, MPI_UNSIGNED, target, at, 1, type, MPI_BXOR, win));
  }
  OK(MPI_Type_free(&type));
}

/* Reads somebody's words, which nobody changes now. */
static void look(MPI_Win win) {
  unsigned got[kWords];
  const int target = (world_rank() + 1) % world_size();
  OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  OK(MPI_Get(got, kWords, MPI_UNSIGNED, target, 0, kWords, MPI_UNSIGNED, win));
  OK(MPI_Win_unlock(target, win));
  for (int i = 0; i < kWords; ++i) CHECK_EQ(got[i], model[target][i]);
}

static void round_of(MPI_Win win, int number) {
  const int rank = world_rank(), size = world_size(), way = number % 5;
  MPI_Group all;
  OK(MPI_Win_get_group(win, &all));
  if (way == 0) OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  if (way == 1) OK(MPI_Win_lock_all(0, win));
  for (int target = 0; way == 2 && target < size; ++target) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  if (way == 3) OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  if (way == 4) {
    OK(MPI_Win_post(all, 0, win));
    OK(MPI_Win_start(all, 0, win));
  }
  for (int origin = 0; origin < size; ++origin)
    for (int i = 0; i < kEach; ++i) operation(win, origin, origin == rank);
  if (way == 0) OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (way == 1) OK(MPI_Win_unlock_all(win));
  for (int target = 0; way == 2 && target < size; ++target) OK(MPI_Win_unlock(target, win));
  if (way == 3) {
    OK(MPI_Win_flush_all(win));
    OK(MPI_Win_unlock_all(win));
  }
  if (way == 4) {
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
  }
  OK(MPI_Group_free(&all));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void whole_life(MPI_Win win, unsigned* base) {
  memset(model, 0, sizeof model);
  memset(base, 0, kWords * sizeof *base);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int number = 0; number < kRounds; ++number) {
    round_of(win, number);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, world_rank(), 0, win));
    for (int i = 0; i < kWords; ++i) CHECK_EQ(base[i], model[world_rank()][i]);
    OK(MPI_Win_unlock(world_rank(), win));
    look(win);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Win_free(&win));
}

static int on_one_node(void) {
  MPI_Comm node;
  int here;
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  OK(MPI_Comm_size(node, &here));
  OK(MPI_Comm_free(&node));
  return here == world_size();
}

int main(int argc, char** argv) {
  unsigned* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  state = 12345;
  OK(MPI_Win_allocate(kWords * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  whole_life(win, base);
  if (on_one_node()) {
    OK(MPI_Win_allocate_shared(kWords * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                               &win));
    whole_life(win, base);
  }
  base = malloc(kWords * sizeof *base);
  OK(MPI_Win_create(base, kWords * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  whole_life(win, base);
  free(base);
  /* Large enough that others can map it. */
  OK(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &base));
  OK(MPI_Win_create(base + 1000, kWords * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  whole_life(win, base + 1000);
  OK(MPI_Free_mem(base));
  return finish();
}
