/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives between two groups: even and odd ranks (MPI-4, 6.2.3). np: 2+ */
#include "coll.h"

enum { COUNT = 40 };

static MPI_Comm between;
static int world, ranks, me, mine, others, odd;

/* World rank of rank `r` of the other group, of my own group. */
static int there(int r) { return 2 * r + 1 - odd; }
static int here(int r) { return 2 * r + odd; }

/* The root argument when world rank `root` is the root. */
static int root_for(int root) {
  if (root == world) return MPI_ROOT;
  return root % 2 == odd ? MPI_PROC_NULL : root / 2;
}

static void rooted(int form, int root, MPI_Op op) {
  const int seen = root_for(root), sends = seen >= 0;
  int* const block = ints(COUNT);
  int* const all = ints((long)COUNT * ranks);
  Affine send[COUNT], receive[COUNT];
  for (int i = 0; i < COUNT; ++i) block[i] = value_of(world, i);
  for (int i = 0; i < COUNT; ++i) send[i] = affine_of(me, i);
  RUN(form, Reduce, reduce, send, receive, COUNT, MPI_2INT, op, seen, between);
  RUN(form, Gather, gather, block, COUNT, MPI_INT, all, COUNT, MPI_INT, seen, between);
  for (int r = 0; r < others && seen == MPI_ROOT; ++r)
    for (int i = 0; i < COUNT; ++i) CHECK_EQ(all[r * COUNT + i], value_of(there(r), i));
  for (int i = 0; i < COUNT && seen == MPI_ROOT; ++i) CHECK_AFFINE(receive[i], composed(0, others - 1, i));
  for (long k = 0; k < (long)COUNT * others && seen == MPI_ROOT; ++k) all[k] = value_of(root, (int)k);
  RUN(form, Scatter, scatter, all, COUNT, MPI_INT, block, COUNT, MPI_INT, seen, between);
  for (int i = 0; i < COUNT && sends; ++i) CHECK_EQ(block[i], value_of(root, me * COUNT + i));
  if (seen == MPI_ROOT)
    for (int i = 0; i < COUNT; ++i) block[i] = value_of(root + 5, i);
  RUN(form, Bcast, bcast, block, COUNT, MPI_INT, seen, between);
  for (int i = 0; i < COUNT && sends; ++i) CHECK_EQ(block[i], value_of(root + 5, i));
  free(block);
  free(all);
}

static void rootless(int form, MPI_Op op) {
  int* const block = ints((long)COUNT * ranks);
  int* const all = ints((long)COUNT * ranks);
  Affine send[COUNT], receive[COUNT];
  RUN(form, Barrier, barrier, between);
  for (int i = 0; i < COUNT; ++i) send[i] = affine_of(me, i);
  RUN(form, Allreduce, allreduce, send, receive, COUNT, MPI_2INT, op, between);
  for (int i = 0; i < COUNT; ++i) CHECK_AFFINE(receive[i], composed(0, others - 1, i));
  for (int i = 0; i < COUNT; ++i) block[i] = value_of(world, i);
  RUN(form, Allgather, allgather, block, COUNT, MPI_INT, all, COUNT, MPI_INT, between);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < COUNT; ++i) CHECK_EQ(all[r * COUNT + i], value_of(there(r), i));
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < COUNT; ++i) block[r * COUNT + i] = value_of(world * 64 + there(r), i);
  RUN(form, Alltoall, alltoall, block, COUNT, MPI_INT, all, COUNT, MPI_INT, between);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < COUNT; ++i) CHECK_EQ(all[r * COUNT + i], value_of(there(r) * 64 + world, i));
  free(block);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = world_rank();
  ranks = world_size();
  odd = world % 2;
  MPI_Comm half;
  OK(MPI_Comm_split(MPI_COMM_WORLD, odd, world, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 7, &between));
  OK(MPI_Comm_rank(between, &me));
  OK(MPI_Comm_size(between, &mine));
  OK(MPI_Comm_remote_size(between, &others));
  CHECK_EQ(world, here(me));
  CHECK_EQ(mine + others, ranks);
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form) {
    for (int root = 0; root < ranks; ++root) rooted(form, root, op);
    rootless(form, op);
  }
  OK(MPI_Op_free(&op));
  OK(MPI_Comm_free(&between));
  OK(MPI_Comm_free(&half));
  return finish();
}
