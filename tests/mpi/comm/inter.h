/* SPDX-License-Identifier: BSD-3-Clause */
/* Two groups of MPI_COMM_WORLD and an intercommunicator between them, in several proportions. */
#ifndef STARLING_TESTS_MPI_INTER_H
#define STARLING_TESTS_MPI_INTER_H

#include "check.h"

enum { BY_PARITY, ONE_AND_REST, HALVES, LAST_AND_REST, SHAPES };

/* Which group a rank is in. */
static int CHECK_UNUSED side_of(int shape, int rank, int size) {
  switch (shape) {
    case BY_PARITY: return rank % 2;
    case ONE_AND_REST: return rank > 0;
    case HALVES: return rank >= size / 2;
    default: return rank < size - 1;
  }
}

typedef struct {
  MPI_Comm local, between;
  int side, me, mine, others; /* rank and sizes of the two groups */
  int here[64], there[64];    /* world ranks of the two groups, in order */
} Bridge;

/* Collective over MPI_COMM_WORLD, which has 2 to 64 processes. */
static Bridge CHECK_UNUSED build_bridge(int shape, int backwards) {
  Bridge b;
  int size, rank, count[2] = {0, 0}, leader;
  int members[2][64];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < size; ++i) {
    const int world = backwards ? size - 1 - i : i, side = side_of(shape, world, size);
    members[side][count[side]++] = world;
  }
  b.side = side_of(shape, rank, size);
  b.mine = count[b.side];
  b.others = count[1 - b.side];
  memcpy(b.here, members[b.side], sizeof b.here);
  memcpy(b.there, members[1 - b.side], sizeof b.there);
  OK(MPI_Comm_split(MPI_COMM_WORLD, b.side, backwards ? -rank : rank, &b.local));
  OK(MPI_Comm_rank(b.local, &b.me));
  leader = b.mine - 1; /* not rank 0 on purpose */
  OK(MPI_Intercomm_create(b.local, leader, b.me == leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                          b.there[b.others - 1], 12, &b.between));
  return b;
}

static void CHECK_UNUSED free_bridge(Bridge* b) {
  OK(MPI_Comm_free(&b->between));
  OK(MPI_Comm_free(&b->local));
}

/* The groups of `comm` are these world ranks. */
static void CHECK_UNUSED check_groups(MPI_Comm comm, const int* here, int mine, const int* there,
                                      int others) {
  MPI_Group world, local, remote;
  int size, index[64], got[64], inter;
  OK(MPI_Comm_test_inter(comm, &inter));
  CHECK(inter);
  OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(size, mine);
  OK(MPI_Comm_remote_size(comm, &size));
  CHECK_EQ(size, others);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Comm_group(comm, &local));
  OK(MPI_Comm_remote_group(comm, &remote));
  for (int i = 0; i < 64; ++i) index[i] = i;
  OK(MPI_Group_translate_ranks(local, mine, index, world, got));
  for (int i = 0; i < mine; ++i) CHECK_EQ(got[i], here[i]);
  OK(MPI_Group_translate_ranks(remote, others, index, world, got));
  for (int i = 0; i < others; ++i) CHECK_EQ(got[i], there[i]);
  OK(MPI_Group_free(&world));
  OK(MPI_Group_free(&local));
  OK(MPI_Group_free(&remote));
}

/* Everybody sends its world rank to everybody in the other group. */
static void CHECK_UNUSED check_messages(MPI_Comm comm, int me, const int* there, int others) {
  MPI_Request requests[64];
  int world, got;
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &world));
  for (int i = 0; i < others; ++i) OK(MPI_Isend(&world, 1, MPI_INT, i, me, comm, &requests[i]));
  for (int i = 0; i < others; ++i) {
    MPI_Status status;
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    CHECK_EQ(status.MPI_TAG, status.MPI_SOURCE);
    CHECK_EQ(got, there[status.MPI_SOURCE]);
  }
  OK(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
}

#endif
