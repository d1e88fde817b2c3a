/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of communicators one after the other, hundreds at once, duplications that overlap with each other
 * and with collectives, disjoint groups in one creation, and intercommunicators split and merged
 * (MPI 5.0, 7.4.2, 7.6). np: 1+ */
#include "check.h"

enum { IN_TURN = 2000, AT_ONCE = 200, OVERLAPPING = 6 };

static int rank, size;

static void check_members(MPI_Comm comm) {
  int one = 1, all = -1, members;
  OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
  OK(MPI_Comm_size(comm, &members));
  CHECK_EQ(all, members);
}

static void many(void) {
  MPI_Comm comm, all[AT_ONCE];
  for (int i = 0; i < IN_TURN; ++i) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (i % 500 == 0) check_members(comm);
    OK(MPI_Comm_free(&comm));
  }
  for (int i = 0; i < AT_ONCE; ++i) OK(MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? 0 : rank % 2, -rank, &all[i]));
  for (int i = AT_ONCE - 1; i > 0; i -= 2) OK(MPI_Comm_free(&all[i]));
  for (int i = 0; i < AT_ONCE; i += 2) {
    check_members(all[i]);
    OK(MPI_Comm_free(&all[i]));
  }
}

static void overlapping(void) {
  MPI_Comm copies[OVERLAPPING];
  MPI_Request requests[OVERLAPPING];
  int result;
  for (int i = 0; i < OVERLAPPING; ++i) OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
  check_members(MPI_COMM_WORLD);
  OK(MPI_Waitall(OVERLAPPING, requests, MPI_STATUSES_IGNORE));
  for (int i = OVERLAPPING - 1; i >= 0; --i) {
    check_members(copies[i]);
    OK(MPI_Comm_compare(copies[i], MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    OK(MPI_Comm_free(&copies[i]));
  }
}

/* Even ranks and odd ranks each name their own group. */
static void disjoint(void) {
  MPI_Group world, half;
  MPI_Comm by_all, by_members;
  int* const ranks = malloc(sizeof(int) * (size_t)size);
  int members = 0, result;
  for (int i = rank % 2; i < size; i += 2) ranks[members++] = i;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, members, ranks, &half));
  OK(MPI_Comm_create(MPI_COMM_WORLD, half, &by_all));
  OK(MPI_Comm_create_group(MPI_COMM_WORLD, half, rank % 2, &by_members));
  OK(MPI_Comm_compare(by_all, by_members, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  check_members(by_all);
  OK(MPI_Comm_free(&by_all));
  OK(MPI_Comm_free(&by_members));
  OK(MPI_Group_free(&half));
  OK(MPI_Group_free(&world));
  free(ranks);
}

/* The lower half, which has the odd one, against the upper one. */
static void between(void) {
  const int lower = (size + 1) / 2, low = rank < lower;
  MPI_Comm half, inter, copy, merged;
  int sum = -1, expected = 0, place, value = rank == 0 ? 42 : -1;
  OK(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lower : 0, 3, &inter));
  OK(MPI_Comm_dup(inter, &copy));
  OK(MPI_Comm_free(&inter));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy));
  for (int i = low ? lower : 0; i < (low ? size : lower); ++i) expected += i;
  CHECK_EQ(sum, expected);
  OK(MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : low ? MPI_PROC_NULL : 0, copy));
  CHECK_EQ(value, rank == 0 || !low ? 42 : -1);
  OK(MPI_Intercomm_merge(copy, low, &merged)); /* those who say 1 come last */
  OK(MPI_Comm_rank(merged, &place));
  CHECK_EQ(place, low ? size - lower + rank : rank - lower);
  check_members(merged);
  OK(MPI_Comm_free(&merged));
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  many();
  overlapping();
  disjoint();
  if (size > 1) between();
  return finish();
}
