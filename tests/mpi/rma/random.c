/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.7: random operations of all ranks, by all ways to synchronise and in windows of all kinds,
 * against a memory that each rank computes for itself.
 * np: 1-8
 *
 * All ranks draw all operations, and each calls its own. Within an epoch nothing is undefined: what one
 * operation puts no other one touches; what is got nobody changes; what all add to is only added to; what one
 * origin reads and changes by accumulates, in the order of its calls, is touched by nobody else. */
#include "rma.h"

enum { kMost = 8, kFree = 400, kShared = 200, kOwn = 24, kRounds = 72, kEach = 10, kLength = 64 };
/* Of each target's words: put and got; added to by all; combined by exclusive or by all; counted by one
 * origin; swapped by one. */
enum {
  kAdded = kFree,
  kMixed = kAdded + kShared,
  kCounted = kMixed + kShared,
  kSwapped = kCounted + kMost * kOwn,
  kWords = kSwapped + kMost * kOwn
};
enum { kFence, kLockAll, kLocks, kUnchecked, kPostStart, kEachAlone, kWays };

static unsigned model[kMost][kWords];
static unsigned char put[kMost][kFree], got[kMost][kFree]; /* in this epoch */
static unsigned long long state;
static MPI_Aint begins[kMost]; /* of a target's words, as displacements */
static int unit;

/* Operations of this rank whose outcome is looked at when the epoch is over. */
static struct {
  unsigned data[kLength], result[kLength], expected[kLength];
  unsigned count, swap[2];
  MPI_Request request;
} calls[kMost * kEach];
static int called;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

/* Where `count` words, each `step` apart, can be put or got; -1: nowhere near. */
static int find_free(int target, unsigned count, unsigned step, int puts) {
  for (int tries = 0; tries < 20; ++tries) {
    const unsigned at = draw(kFree - (count - 1) * step);
    unsigned i = 0;
    while (i < count && !put[target][at + i * step] && !(puts && got[target][at + i * step])) ++i;
    if (i < count) continue;
    for (i = 0; i < count; ++i) (puts ? put : got)[target][at + i * step] = 1;
    return (int)at;
  }
  return -1;
}

static MPI_Datatype vector_of(unsigned count, unsigned step) {
  MPI_Datatype type;
  OK(MPI_Type_vector((int)count, 1, (int)step, MPI_UNSIGNED, &type));
  OK(MPI_Type_commit(&type));
  return type;
}

static void operation(MPI_Win win, int way, int origin, int mine) {
  const int target = (int)draw((unsigned)world_size());
  const unsigned kind = draw(8), step = 1 + draw(3), with_request = draw(3) == 0;
  const unsigned waits = draw(2), hit = draw(2);
  const int lock = draw(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
  const int asks = with_request && way != kFence && way != kPostStart;
  unsigned count = 1 + draw(kind < 4 ? kLength : kOwn / 3);
  unsigned data[kLength], *word;
  int at;
  for (int i = 0; i < kLength; ++i) data[i] = draw(1000000);
  switch (kind) {
    case 0:
    case 1: at = find_free(target, count, step, kind == 0); break;
    case 2: at = kAdded + (int)draw(kShared - (count - 1) * step); break;
    case 3: at = kMixed + (int)draw(kShared - (count - 1) * step); break;
    case 4:
    case 5: at = kCounted + origin * kOwn + (int)draw(kOwn - (count - 1) * step); break;
    case 6: at = kCounted + origin * kOwn + (int)draw(kOwn), count = 1; break;
    default: at = kSwapped + origin * kOwn + (int)draw(kOwn), count = 1; break;
  }
  if (at < 0) return;
  word = &model[target][at];
  if (mine) {
    calls[called].count = 0;
    calls[called].request = MPI_REQUEST_NULL;
    memcpy(calls[called].data, data, sizeof data);
    if (kind == 1 || kind > 3) {
      calls[called].count = count;
      for (unsigned i = 0; i < count; ++i) calls[called].expected[i] = word[i * step];
    }
    calls[called].swap[0] = hit ? *word : *word + 1;
    calls[called].swap[1] = data[0];
  }
  for (unsigned i = 0; i < count; ++i, word += step) {
    if (kind == 0) *word = data[i];
    if (kind == 3) *word ^= data[i];
    if (kind == 2 || kind == 4 || kind == 6) *word += data[i];
    if (kind == 7 && hit) *word = data[0];
  }
  if (!mine) return;
  unsigned *const out = calls[called].data, *const in = calls[called].result;
  unsigned* const swap = calls[called].swap;
  MPI_Request* const request = asks ? &calls[called].request : NULL;
  const MPI_Aint disp = begins[target] + (MPI_Aint)at * unit;
  MPI_Datatype type = vector_of(count, step);
  const int n = (int)count;
  if (way == kEachAlone) OK(MPI_Win_lock(lock, target, 0, win));
  if (kind == 0) {
    OK(asks ? MPI_Rput(out, n, MPI_UNSIGNED, target, disp, 1, type, win, request)
            : MPI_Put(out, n, MPI_UNSIGNED, target, disp, 1, type, win));
  } else if (kind == 1) {
    OK(asks ? MPI_Rget(in, n, MPI_UNSIGNED, target, disp, 1, type, win, request)
            : MPI_Get(in, n, MPI_UNSIGNED, target, disp, 1, type, win));
  } else if (kind < 4) {
    const MPI_Op op = kind == 2 ? MPI_SUM : MPI_BXOR;
    OK(asks ? MPI_Raccumulate(out, n, MPI_UNSIGNED, target, disp, 1, type, op, win, request)
            : MPI_Accumulate(out, n, MPI_UNSIGNED, target, disp, 1, type, op, win));
  } else if (kind < 6) {
    const MPI_Op op = kind == 4 ? MPI_SUM : MPI_NO_OP;
    OK(asks ? MPI_Rget_accumulate(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, target, disp, 1, type, op, win,
                                  request)
            : MPI_Get_accumulate(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, target, disp, 1, type, op, win));
  } else if (kind == 6) {
    OK(MPI_Fetch_and_op(out, in, MPI_UNSIGNED, target, disp, MPI_SUM, win));
  } else {
    OK(MPI_Compare_and_swap(&swap[1], &swap[0], in, MPI_UNSIGNED, target, disp, win));
  }
  if (asks && waits) OK(MPI_Wait(request, MPI_STATUS_IGNORE));
  if (way == kEachAlone) OK(MPI_Win_unlock(target, win));
  OK(MPI_Type_free(&type));
  ++called;
}

/* The epoch is over: what came back is what was expected. */
static void check_calls(void) {
  for (int i = 0; i < called; ++i) {
    OK(MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE));
    for (unsigned k = 0; k < calls[i].count; ++k) CHECK_EQ(calls[i].result[k], calls[i].expected[k]);
  }
  called = 0;
  memset(put, 0, sizeof put);
  memset(got, 0, sizeof got);
}

/* Reads somebody's words, which nobody changes now. */
static void look(MPI_Win win) {
  unsigned there[kWords];
  const int target = (world_rank() + 1) % world_size();
  OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  OK(MPI_Get(there, kWords, MPI_UNSIGNED, target, begins[target], kWords, MPI_UNSIGNED, win));
  OK(MPI_Win_unlock(target, win));
  for (int i = 0; i < kWords; ++i) CHECK_EQ(there[i], model[target][i]);
}

static void begin(MPI_Win win, int way, MPI_Group all) {
  if (way == kFence) OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  if (way == kLockAll) OK(MPI_Win_lock_all(0, win));
  for (int target = 0; way == kLocks && target < world_size(); ++target)
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  if (way == kUnchecked) OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  if (way == kPostStart) {
    OK(MPI_Win_post(all, 0, win));
    OK(MPI_Win_start(all, 0, win));
  }
}

static void end(MPI_Win win, int way) {
  if (way == kFence) OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (way == kLockAll) OK(MPI_Win_unlock_all(win));
  for (int target = 0; way == kLocks && target < world_size(); ++target) {
    OK(MPI_Win_flush(target, win));
    OK(MPI_Win_unlock(target, win));
  }
  if (way == kUnchecked) {
    OK(MPI_Win_flush_local_all(win));
    check_calls();
    OK(MPI_Win_unlock_all(win));
  }
  if (way == kPostStart) {
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
  }
}

static void round_of(MPI_Win win, int way) {
  MPI_Group all;
  OK(MPI_Win_get_group(win, &all));
  begin(win, way, all);
  for (int origin = 0; origin < world_size(); ++origin)
    for (int i = 0; i < kEach; ++i) operation(win, way, origin, origin == world_rank());
  end(win, way);
  check_calls();
  OK(MPI_Group_free(&all));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void whole_life(MPI_Win win, unsigned* base) {
  memset(model, 0, sizeof model);
  memset(base, 0, kWords * sizeof *base);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int number = 0; number < kRounds; ++number) {
    round_of(win, number % kWays);
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

static void dynamic(void) {
  unsigned* const base = malloc(kWords * sizeof *base);
  MPI_Aint address;
  MPI_Win win;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_attach(win, base, kWords * sizeof *base));
  OK(MPI_Get_address(base, &address));
  OK(MPI_Allgather(&address, 1, MPI_AINT, begins, 1, MPI_AINT, MPI_COMM_WORLD));
  unit = sizeof *base;
  whole_life(win, base);
  free(base);
}

int main(int argc, char** argv) {
  unsigned* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  state = 12345;
  unit = 1;
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
  dynamic();
  return finish();
}
