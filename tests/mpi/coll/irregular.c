/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of unequal and no length, in any order and with gaps; MPI_IN_PLACE; types that differ between root
 * and others; objects that are freed while in use (MPI 5.0, 6.5 to 6.8, 6.12). */
#include "check.h"

enum { MAX_RANKS = 64, LONG = 20000 };

static int rank, size;

static void wait_for(MPI_Request* request) { OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

/* Blocks lie in reverse order of ranks, two elements apart; each third is empty. */
static void gather_and_scatter(int root, int place, int nonblocking) {
  int counts[MAX_RANKS], at[MAX_RANKS], mine[MAX_RANKS], back[MAX_RANKS], all = 0;
  MPI_Request request;
  for (int i = size - 1; i >= 0; --i) {
    counts[i] = i % 3 == 1 ? 0 : i + 1;
    at[i] = all;
    all += counts[i] + 2;
  }
  int* const blocks = malloc(sizeof(int) * (size_t)all);
  for (int i = 0; i < all; ++i) blocks[i] = -1;
  for (int i = 0; i < MAX_RANKS; ++i) mine[i] = rank * 100 + i, back[i] = -7;
  const int here = place && rank == root;
  for (int i = 0; here && i < counts[rank]; ++i) blocks[at[rank] + i] = mine[i];
  const void* const send = here ? MPI_IN_PLACE : (void*)mine;
  if (nonblocking) {
    OK(MPI_Igatherv(send, counts[rank], MPI_INT, blocks, counts, at, MPI_INT, root, MPI_COMM_WORLD,
                    &request));
    wait_for(&request);
  } else {
    OK(MPI_Gatherv(send, counts[rank], MPI_INT, blocks, counts, at, MPI_INT, root, MPI_COMM_WORLD));
  }
  for (int i = 0; rank == root && i < size; ++i) {
    for (int k = 0; k < counts[i]; ++k) CHECK_EQ(blocks[at[i] + k], i * 100 + k);
    CHECK_EQ(blocks[at[i] + counts[i]], -1);
  }
  void* const receive = here ? MPI_IN_PLACE : (void*)back;
  if (nonblocking) {
    OK(MPI_Iscatterv(blocks, counts, at, MPI_INT, receive, counts[rank], MPI_INT, root, MPI_COMM_WORLD,
                     &request));
    wait_for(&request);
  } else {
    OK(MPI_Scatterv(blocks, counts, at, MPI_INT, receive, counts[rank], MPI_INT, root, MPI_COMM_WORLD));
  }
  for (int i = 0; !here && i < MAX_RANKS; ++i) CHECK_EQ(back[i], i < counts[rank] ? mine[i] : -7);
  free(blocks);
}

static void fill_rows(int* blocks, const int* counts) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < counts[i]; ++k) *blocks++ = rank * 10000 + i * 100 + k;
  }
}

static void check_rows(const int* blocks, const int* counts) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < counts[i]; ++k) CHECK_EQ(*blocks++, i * 10000 + rank * 100 + k);
  }
}

/* In place both sides have equal blocks, here of rank + peer + 1 elements. */
static void exchange_in_place(void) {
  int counts[MAX_RANKS], at[MAX_RANKS], bytes[MAX_RANKS], all = 0;
  MPI_Datatype types[MAX_RANKS];
  MPI_Request request;
  for (int i = 0; i < size; ++i) {
    counts[i] = i + rank + 1;
    at[i] = all;
    bytes[i] = all * (int)sizeof(int);
    types[i] = MPI_INT;
    all += counts[i];
  }
  int* const blocks = malloc(sizeof(int) * (size_t)all);
  fill_rows(blocks, counts);
  OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, blocks, counts, bytes, types, MPI_COMM_WORLD));
  check_rows(blocks, counts);
  fill_rows(blocks, counts);
  OK(MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, blocks, counts, at, MPI_INT, MPI_COMM_WORLD,
                    &request));
  wait_for(&request);
  check_rows(blocks, counts);
  free(blocks);
}

/* The root's elements are contiguous, those of the others are two apart. */
static void broadcast_to_other_type(int root) {
  MPI_Datatype type;
  MPI_Request request;
  int* const data = malloc(sizeof(int) * 2 * LONG);
  OK(rank == root ? MPI_Type_contiguous(LONG, MPI_INT, &type) : MPI_Type_vector(LONG, 1, 2, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  for (int i = 0; i < 2 * LONG; ++i) data[i] = rank == root ? i : -3;
  OK(MPI_Ibcast(data, 1, type, root, MPI_COMM_WORLD, &request));
  OK(MPI_Type_free(&type)); /* goes when the broadcast has ended */
  wait_for(&request);
  for (int i = 0; rank != root && i < 2 * LONG - 1; ++i) CHECK_EQ(data[i], i % 2 ? -3 : i / 2);
  free(data);
}

/* At others than the root the receive buffer is not significant: it may be the send buffer, which stays. */
static void reduce_with_one_buffer(int count) {
  int* const data = malloc(sizeof(int) * (size_t)count);
  int* const sums = malloc(sizeof(int) * (size_t)count);
  const int root = size / 2;
  for (int i = 0; i < count; ++i) data[i] = rank + i;
  OK(MPI_Reduce(data, rank == root ? sums : data, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
  for (int i = 0; i < count; ++i) {
    CHECK_EQ(data[i], rank + i);
    if (rank == root) CHECK_EQ(sums[i], size * (size - 1) / 2 + size * i);
  }
  free(data);
  free(sums);
}

static void nothing_at_all(void) {
  OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  OK(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  OK(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  OK(MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  for (int root = 0; root < size; ++root) {
    for (int way = 0; way < 4; ++way) gather_and_scatter(root, way % 2, way / 2);
    broadcast_to_other_type(root);
  }
  exchange_in_place();
  for (int count = 1; count <= 100000; count *= 10) reduce_with_one_buffer(count);
  nothing_at_all();
  return finish();
}
