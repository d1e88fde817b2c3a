/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that is longer than its place is cut off, the receiver is told, and the communicator stays usable
 * (MPI 5.0, 3.2.5 and 6.2). np: 2+ */
#include "coll.h"

enum { MAX_RANKS = 64, FROM = 1 };

static int rank, size;

/* Rank 1 gives `excess` elements more than others, for which nobody has room. */
static void gather(int count, int excess) {
  count_t counts[MAX_RANKS];
  place_t at[MAX_RANKS];
  const int mine = count + (rank == FROM ? excess : 0);
  int* const blocks = ints((long)size * (count + 1));
  int* const own = ints(mine);
  for (int i = 0; i < size; ++i) {
    counts[i] = count;
    at[i] = i * (count + 1);
  }
  for (int i = 0; i < mine; ++i) own[i] = value_of(rank, i);
  const int code = MPI_Gatherv(own, mine, MPI_INT, blocks, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0)
    CHECK_ERROR(code, MPI_ERR_TRUNCATE);
  else
    OK(code);
  for (int r = 0; rank == 0 && r < size; ++r) {
    for (int i = 0; r != FROM && i < count; ++i) CHECK_EQ(blocks[at[r] + i], value_of(r, i));
    CHECK_EQ(blocks[at[r] + count], -77);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(blocks);
  free(own);
}

static void exchange(int count, int excess) {
  count_t out[MAX_RANKS], in[MAX_RANKS];
  place_t out_at[MAX_RANKS], in_at[MAX_RANKS];
  const int mine = count + (rank == FROM ? excess : 0);
  int* const send = ints((long)size * mine);
  int* const receive = ints((long)size * (count + 1));
  for (int i = 0; i < size; ++i) {
    out[i] = i == 0 ? mine : count;
    in[i] = rank == FROM && i == FROM ? mine : count;
    out_at[i] = i * mine;
    in_at[i] = i * (count + 1);
  }
  in[rank] = out[rank] = count; /* each to itself as expected */
  for (int i = 0; i < size * mine; ++i) send[i] = value_of(rank, i);
  const int code = MPI_Alltoallv(send, out, out_at, MPI_INT, receive, in, in_at, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0)
    CHECK_ERROR(code, MPI_ERR_TRUNCATE);
  else
    OK(code);
  for (int r = 0; r < size; ++r) CHECK_EQ(receive[in_at[r] + count], -77);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  for (int i = 0; i < 3; ++i) OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 0; turn < 2; ++turn) {
    gather(2, 1);
    gather(2, 30000);
    gather(30000, 1000);
    exchange(2, 1);
    exchange(2, 30000);
    exchange(30000, 1000);
  }
  return finish();
}
