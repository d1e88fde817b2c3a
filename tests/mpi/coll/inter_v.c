/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives between two groups whose blocks differ: the v and w forms, reduce-scatters, groups of unequal
 * size (MPI 5.0, 6.2.3). np: 2+ */
#include "coll.h"

static MPI_Comm between;
static int world, me, mine, others, first; /* first: world rank of the other group's first member */

/* Elements that rank `r` of a group of whom the first is world rank `start` has. */
static int length(int start, int r) { return (start + r) % 4; }

/* One process against all others: world rank 0 is alone. */
static void groups(void) {
  MPI_Comm half;
  const int ranks = world_size();
  world = world_rank();
  OK(MPI_Comm_split(MPI_COMM_WORLD, world > 0, world, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world > 0 ? 0 : 1, 7, &between));
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_rank(between, &me));
  mine = world > 0 ? ranks - 1 : 1;
  others = ranks - mine;
  first = world > 0 ? 0 : 1;
}

/* counts and displacements of the other group's blocks, one element apart. */
static void layout(count_t* counts, place_t* at) {
  int next = 0;
  for (int r = 0; r < others; ++r) {
    counts[r] = length(first, r);
    at[r] = next;
    next += counts[r] + 1;
  }
}

static void vectors(int form) {
  count_t counts[64];
  place_t at[64];
  int out[8], in[512];
  layout(counts, at);
  for (int i = 0; i < 8; ++i) out[i] = value_of(world, i);
  const int own = length(world - me, me);
  RUN(form, Allgatherv, allgatherv, out, own, MPI_INT, in, counts, at, MPI_INT, between);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < counts[r]; ++i) CHECK_EQ(in[at[r] + i], value_of(first + r, i));
  for (int root = 0; root < world_size(); ++root) {
    const int here = root == world, same_side = (root > 0) == (world > 0);
    const int seen = here ? MPI_ROOT : same_side ? MPI_PROC_NULL : root - first;
    for (int i = 0; i < 512; ++i) in[i] = -1;
    RUN(form, Gatherv, gatherv, out, own, MPI_INT, in, counts, at, MPI_INT, seen, between);
    for (int r = 0; r < others && here; ++r)
      for (int i = 0; i < counts[r]; ++i) CHECK_EQ(in[at[r] + i], value_of(first + r, i));
    if (here)
      for (int r = 0; r < others; ++r)
        for (int i = 0; i < counts[r]; ++i) in[at[r] + i] = value_of(first + r, i + 3);
    int got[8];
    RUN(form, Scatterv, scatterv, in, counts, at, MPI_INT, got, own, MPI_INT, seen, between);
    for (int i = 0; i < own && !same_side; ++i) CHECK_EQ(got[i], value_of(world, i + 3));
  }
}

/* Block from a to b: length(a, b) elements. */
static void all_to_all(int form) {
  count_t sends[64], receives[64];
  place_t at[64], bytes[64];
  int out[256], in[256];
  MPI_Datatype types[64];
  for (int r = 0; r < others; ++r) {
    sends[r] = length(world, first + r);
    receives[r] = length(first + r, world);
    at[r] = 4 * r;
    bytes[r] = 4 * r * (int)sizeof(int);
    types[r] = MPI_INT;
    for (int i = 0; i < 4; ++i) out[at[r] + i] = value_of(world * 64 + first + r, i);
  }
  RUN(form, Alltoallv, alltoallv, out, sends, at, MPI_INT, in, receives, at, MPI_INT, between);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < receives[r]; ++i) CHECK_EQ(in[at[r] + i], value_of((first + r) * 64 + world, i));
  memset(in, 0, sizeof in);
  RUN(form, Alltoallw, alltoallw, out, sends, bytes, types, in, receives, bytes, types, between);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < receives[r]; ++i) CHECK_EQ(in[at[r] + i], value_of((first + r) * 64 + world, i));
}

/* The other group's result is divided among mine: 3 elements for each pair of processes. */
static void reduce_scatters(int form, MPI_Op op) {
  const int total = 3 * mine * others, each = 3 * others;
  count_t counts[64];
  Affine* const out = malloc(sizeof(Affine) * (size_t)total);
  Affine* const in = malloc(sizeof(Affine) * (size_t)total);
  for (int i = 0; i < total; ++i) out[i] = affine_of(me, i);
  RUN(form, Reduce_scatter_block, reduce_scatter_block, out, in, each, MPI_2INT, op, between);
  for (int i = 0; i < each; ++i) CHECK_AFFINE(in[i], composed(0, others - 1, me * each + i));
  for (int r = 0; r < mine; ++r) counts[r] = each;
  if (mine > 1) counts[0] += each, counts[1] = 0; /* an empty block */
  RUN(form, Reduce_scatter, reduce_scatter, out, in, counts, MPI_2INT, op, between);
  int start = 0;
  for (int r = 0; r < me; ++r) start += counts[r];
  for (int i = 0; i < counts[me]; ++i) CHECK_AFFINE(in[i], composed(0, others - 1, start + i));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  groups();
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form) {
    vectors(form);
    all_to_all(form);
    reduce_scatters(form, op);
  }
  OK(MPI_Op_free(&op));
  OK(MPI_Comm_free(&between));
  return finish();
}
