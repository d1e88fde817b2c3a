/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that disagree about a collective's length are told (MPI 5.0, 6.1: the amount of data sent must
 * exactly match the amount of data specified by the receiver), nothing is written beyond a buffer, and the
 * next collective on the communicator works. np: 2+ */
#include "coll.h"

enum { MOST = 600, MAX_RANKS = 64 };

static int rank, size, root, odd, form;
static MPI_Comm comm;

/* What one call of this rank came to, in its blocking or nonblocking form. */
#define COLLECTIVE(name, iname, ...)                \
  (form == BLOCKING ? MPI_##name(__VA_ARGS__, comm) \
                    : wait_for(MPI_I##iname(__VA_ARGS__, comm, &request), &request))
static MPI_Request request;
static int wait_for(int code, MPI_Request* started) {
  return code == MPI_SUCCESS ? MPI_Wait(started, MPI_STATUS_IGNORE) : code;
}

/* One rank's buffers; what is behind them must stay. */
static int *give, *take;
static long given, taken;
static void buffers(long out, long in) {
  given = out;
  taken = in;
  give = ints(out);
  take = ints(in);
  for (long i = 0; i < out; ++i) give[i] = value_of(rank, (int)i);
}
/* This rank must have been told, or may have been. */
static void outcome(int code, int must) {
  if (must || code != MPI_SUCCESS) CHECK_ERROR(code, MPI_ERR_TRUNCATE);
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    OK(MPI_Error_string(code, text, &length));
    CHECK(length > 0);
  }
  UNTOUCHED(give, given);
  UNTOUCHED(take, taken);
  free(give);
  free(take);
}

/* A call in which all agree, and its data. */
static void agree(int turn) {
  int word = rank == root ? turn * 17 + 3 : -1, sum = -1, mine = rank + turn;
  OK(MPI_Bcast(&word, 1, MPI_INT, root, comm));
  CHECK_EQ(word, turn * 17 + 3);
  OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2 + size * turn);
  OK(MPI_Barrier(comm));
}

static void rooted(int usual, int other) {
  const int count = rank == root ? other : usual;
  buffers(count, count);
  outcome(COLLECTIVE(Bcast, bcast, take, count, MPI_INT, root), rank != root);
  agree(1);
  buffers((long)count * size, count);
  outcome(COLLECTIVE(Scatter, scatter, give, count, MPI_INT, take, count, MPI_INT, root), rank != root);
  agree(2);
  buffers(count, (long)count * size);
  outcome(COLLECTIVE(Gather, gather, give, count, MPI_INT, take, count, MPI_INT, root), rank == root);
  agree(3);
  buffers(count, count);
  outcome(COLLECTIVE(Reduce, reduce, give, take, count, MPI_INT, MPI_SUM, root), rank == root);
  agree(4);
}

static void all_to_all(int usual, int other) {
  const int count = rank == odd ? other : usual;
  buffers(count, count);
  outcome(COLLECTIVE(Allreduce, allreduce, give, take, count, MPI_INT, MPI_SUM), 1);
  agree(5);
  buffers(count, (long)count * size);
  outcome(COLLECTIVE(Allgather, allgather, give, count, MPI_INT, take, count, MPI_INT), 1);
  agree(6);
  buffers((long)count * size, (long)count * size);
  outcome(COLLECTIVE(Alltoall, alltoall, give, count, MPI_INT, take, count, MPI_INT), 1);
  agree(7);
  /* The odd one expects of itself what it does not give. */
  buffers(count, (long)usual * size);
  outcome(COLLECTIVE(Allgather, allgather, give, count, MPI_INT, take, usual, MPI_INT), 1);
  agree(8);
}

/* Blocks whose lengths only their two ends know: the odd one gives others than everybody expects. Too long
 * ones must be told; too short ones may be. */
static void blocks(int usual, int other) {
  const int count = rank == odd ? other : usual;
  count_t out[MAX_RANKS], in[MAX_RANKS];
  place_t out_at[MAX_RANKS], in_at[MAX_RANKS];
  for (int i = 0; i < size; ++i) {
    out[i] = count;
    in[i] = usual;
    out_at[i] = (place_t)i * count;
    in_at[i] = (place_t)i * usual;
  }
  buffers(count, (long)usual * size);
  outcome(COLLECTIVE(Gatherv, gatherv, give, count, MPI_INT, take, in, in_at, MPI_INT, root),
          rank == root && other > usual);
  agree(9);
  buffers((long)count * size, (long)usual * size);
  outcome(COLLECTIVE(Alltoallv, alltoallv, give, out, out_at, MPI_INT, take, in, in_at, MPI_INT),
          other > usual);
  agree(10);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  /* Of lengths that are near enough for the same way on all processes; else some would wait for what nobody
   * sends (docs/design/collectives.md). What a member writes goes by another board from 241 bytes on: the
   * blocks of all members, in units of 16 bytes, and over several nodes all those from one node to another.
   * So one integer and ten go two ways from six members on, one and three where twenty blocks go together. */
  const int some = size < 6 ? 10 : 3;
  const int lengths[][2] = {{1, some}, {some, 1}, {9, 10}, {MOST, MOST - 1}};
  for (form = BLOCKING; form <= NONBLOCKING; ++form) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < 8; ++i) { /* the first ones of a communicator may take another way than later ones */
      root = i % size;
      odd = (i + 1) % size;
      rooted(lengths[i % 4][0], lengths[i % 4][1]);
      all_to_all(lengths[i % 4][0], lengths[i % 4][1]);
      blocks(lengths[i % 4][0], lengths[i % 4][1]);
    }
    OK(MPI_Comm_free(&comm));
  }
  return finish();
}
