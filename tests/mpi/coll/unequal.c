/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives whose blocks differ widely within one call: nothing, a few bytes, more than any eager limit.
 * Some types have holes on one side only (MPI 5.0, 6.5 to 6.8). */
#include "coll.h"

enum { MAX_RANKS = 64 };

static int rank, size;
static MPI_Datatype spread;

static int length(int from, int to, int turn) {
  static const int lengths[] = {0, 1, 3, 40, 700, 2500, 30000};
  return lengths[(from * 5 + to * 3 + turn) % 7];
}
static int element(int from, int to, int i) { return from * 1000003 + to * 10007 + i; }

/* Counts and displacements of blocks with a gap after each, in elements; the elements in all. */
static int places(count_t* counts, place_t* at, int turn, int outgoing) {
  int all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = outgoing ? length(rank, i, turn) : length(i, rank, turn);
    at[i] = all;
    all += counts[i] + 1;
  }
  return all;
}

/* An array of `elements`, each `step` ints apart, of -1. */
static int* blank(int elements, int step) {
  const size_t all = (size_t)elements * (size_t)step + 2;
  int* const data = malloc(sizeof(int) * all);
  CHECK(data != NULL);
  for (size_t i = 0; i < all; ++i) data[i] = -1;
  return data;
}
/* spread has its int at the second place of two. */
static int* at_element(int* data, place_t index, int step) { return data + index * step + (step == 2); }

static void fill_block(int* data, int step, place_t first, place_t count, int from, int to) {
  for (int i = 0; i < count; ++i) *at_element(data, first + i, step) = element(from, to, i);
}
static void check_block(int* data, int step, place_t first, place_t count, int from, int to) {
  for (int i = 0; i < count; ++i) CHECK_EQ(*at_element(data, first + i, step), element(from, to, i));
  CHECK_EQ(*at_element(data, first + count, step), -1); /* the gap behind the block */
}

static void gather_and_scatter(int form, int root, int turn) {
  const int step = turn % 2 + 1; /* at the root; the others' data are contiguous */
  const MPI_Datatype type = step == 2 ? spread : MPI_INT;
  const int in_place = turn % 3 == 2 && rank == root;
  count_t counts[MAX_RANKS];
  place_t at[MAX_RANKS];
  const int sent = length(rank, root, turn), received = length(root, rank, turn);
  int all = places(counts, at, turn, 0);
  int* blocks = blank(all, step);
  int* mine = blank(sent, 1);
  fill_block(mine, 1, 0, sent, rank, root);
  if (in_place) fill_block(blocks, step, at[rank], sent, rank, root);
  RUN(form, Gatherv, gatherv, in_place ? MPI_IN_PLACE : (void*)mine, sent, MPI_INT, blocks, counts, at, type,
      root, MPI_COMM_WORLD);
  for (int i = 0; rank == root && i < size; ++i) check_block(blocks, step, at[i], counts[i], i, root);
  free(blocks);
  free(mine);

  all = places(counts, at, turn, 1);
  blocks = blank(all, step);
  mine = blank(received + 1, 1);
  for (int i = 0; i < size; ++i) fill_block(blocks, step, at[i], counts[i], rank, i);
  RUN(form, Scatterv, scatterv, blocks, counts, at, type, in_place ? MPI_IN_PLACE : (void*)mine, received,
      MPI_INT, root, MPI_COMM_WORLD);
  if (!in_place) check_block(mine, 1, 0, received, root, rank);
  free(blocks);
  free(mine);
}

static void everybody(int form, int turn) {
  const int step = turn % 2 + 1;
  const MPI_Datatype type = step == 2 ? spread : MPI_INT;
  count_t out[MAX_RANKS], in[MAX_RANKS];
  place_t out_at[MAX_RANKS], in_at[MAX_RANKS], in_bytes[MAX_RANKS], out_bytes[MAX_RANKS];
  MPI_Datatype in_types[MAX_RANKS], out_types[MAX_RANKS];
  const int sent = places(out, out_at, turn, 1), received = places(in, in_at, turn, 0);
  int* const send = blank(sent, 1);
  int* receive = blank(received, step);
  for (int i = 0; i < size; ++i) {
    fill_block(send, 1, out_at[i], out[i], rank, i);
    out_bytes[i] = out_at[i] * (place_t)sizeof(int);
    in_bytes[i] = in_at[i] * step * (place_t)sizeof(int);
    out_types[i] = MPI_INT;
    in_types[i] = type;
  }
  RUN(form, Alltoallv, alltoallv, send, out, out_at, MPI_INT, receive, in, in_at, type, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) check_block(receive, step, in_at[i], in[i], i, rank);
  free(receive);
  receive = blank(received, step);
  RUN(form, Alltoallw, alltoallw, send, out, out_bytes, out_types, receive, in, in_bytes, in_types,
      MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) check_block(receive, step, in_at[i], in[i], i, rank);
  free(receive);
  free(send);

  int all = 0;
  for (int i = 0; i < size; ++i) {
    in[i] = length(i, 0, turn);
    in_at[i] = all;
    all += in[i] + 1;
  }
  const int in_place = turn % 3 == 2;
  int* const mine = blank(in[rank], 1);
  receive = blank(all, step);
  fill_block(mine, 1, 0, in[rank], rank, 0);
  if (in_place) fill_block(receive, step, in_at[rank], in[rank], rank, 0);
  RUN(form, Allgatherv, allgatherv, in_place ? MPI_IN_PLACE : (void*)mine, in[rank], MPI_INT, receive, in,
      in_at, type, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) check_block(receive, step, in_at[i], in[i], i, 0);
  free(mine);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  spread = spread_int();
  for (int form = 0; form < FORMS; ++form) {
    for (int turn = 0; turn < 7; ++turn) {
      gather_and_scatter(form, turn % size, turn);
      everybody(form, turn);
    }
  }
  OK(MPI_Type_free(&spread));
  return finish();
}
