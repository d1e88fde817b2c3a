/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_merge: the group that says high comes last; with equal wishes any order that all see alike
 * (MPI 5.0, 7.6.2). np: 2+ */
#include "inter.h"

/* The world ranks of `comm`, in order. */
static void members(MPI_Comm comm, int size, int* ranks) {
  int world;
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &world));
  OK(MPI_Allgather(&world, 1, MPI_INT, ranks, 1, MPI_INT, comm));
  for (int i = 0; i < size; ++i) CHECK(ranks[i] >= 0);
}

static int same(const int* ranks, const int* first, int n, const int* second, int m) {
  return memcmp(ranks, first, sizeof(int) * (size_t)n) == 0 &&
         memcmp(ranks + n, second, sizeof(int) * (size_t)m) == 0;
}

static void merge(const Bridge* b, int high) {
  MPI_Comm all;
  int size, inter, ranks[64];
  OK(MPI_Intercomm_merge(b->between, high, &all));
  OK(MPI_Comm_test_inter(all, &inter));
  CHECK_EQ(inter, 0);
  OK(MPI_Comm_size(all, &size));
  CHECK_EQ(size, b->mine + b->others);
  members(all, size, ranks);
  const int low_first = same(ranks, b->here, b->mine, b->there, b->others);
  const int high_first = same(ranks, b->there, b->others, b->here, b->mine);
  CHECK(low_first != high_first);
  /* Whether the groups said the same is known from the other side's answer. */
  int theirs = -1;
  MPI_Status status;
  OK(MPI_Sendrecv(&high, 1, MPI_INT, 0, 1, &theirs, b->me == 0 ? 1 : 0, MPI_INT,
                  b->me == 0 ? 0 : MPI_PROC_NULL, 1, b->between, &status));
  if (b->me == 0) {
    for (int i = 1; i < b->others; ++i)
      OK(MPI_Recv(&theirs, 1, MPI_INT, i, 1, b->between, MPI_STATUS_IGNORE));
  }
  OK(MPI_Bcast(&theirs, 1, MPI_INT, 0, b->local));
  if (theirs != high) CHECK_EQ(low_first, !high);
  OK(MPI_Comm_free(&all));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int shape = 0; shape < SHAPES; ++shape) {
    Bridge b = build_bridge(shape, shape % 2);
    merge(&b, b.side);
    merge(&b, 1 - b.side);
    merge(&b, 0);
    merge(&b, 1);
    free_bridge(&b);
  }
  return finish();
}
