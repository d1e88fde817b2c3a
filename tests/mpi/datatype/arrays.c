/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.1.3 and 5.1.4: the parts of a distributed array that the processes hold make up the
 * whole, and a halo goes from a subarray into another one. np: 1-8 */
#include "check.h"

enum { kRows = 7, kColumns = 10 };

/* Every process packs its part of the same matrix; together each element is there once. */
static void check_distribution(int distribution, int argument, int ranks) {
  count_t sizes[2] = {kRows, kColumns}, size, position;
  int distributions[2], arguments[2], grid[2], matrix[kRows][kColumns];
  int seen[kRows * kColumns] = {0}, part[kRows * kColumns], rank, i;
  MPI_Datatype type;
  for (i = 0; i < kRows * kColumns; ++i) matrix[i / kColumns][i % kColumns] = i;
  distributions[0] = MPI_DISTRIBUTE_CYCLIC;
  distributions[1] = distribution;
  arguments[0] = MPI_DISTRIBUTE_DFLT_DARG;
  arguments[1] = argument;
  grid[0] = 2;
  grid[1] = ranks / 2;
  for (rank = 0; rank < ranks; ++rank) {
    OK(MPI_Type_create_darray(ranks, rank, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                              &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &size));
    position = 0;
    OK(MPI_Pack(matrix, 1, type, part, sizeof part, &position, MPI_COMM_SELF));
    CHECK_EQ(position, size);
    for (i = 0; i < size / (int)sizeof(int); ++i) ++seen[part[i]];
    OK(MPI_Type_free(&type));
  }
  for (i = 0; i < kRows * kColumns; ++i) CHECK_EQ(seen[i], 1);
}

/* The last inner column travels into the first column of the next process. */
static void check_halo(void) {
  int rank, ranks, i, field[kRows][kColumns];
  count_t sizes[2] = {kRows, kColumns}, part[2] = {kRows - 2, 1};
  count_t inner[2] = {1, kColumns - 2}, outer[2] = {1, 0};
  MPI_Datatype from, to;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < kRows * kColumns; ++i) field[i / kColumns][i % kColumns] = 1000 * rank + i;
  OK(MPI_Type_create_subarray(2, sizes, part, inner, MPI_ORDER_C, MPI_INT, &from));
  OK(MPI_Type_create_subarray(2, sizes, part, outer, MPI_ORDER_C, MPI_INT, &to));
  OK(MPI_Type_commit(&from));
  OK(MPI_Type_commit(&to));
  OK(MPI_Sendrecv(field, 1, from, (rank + 1) % ranks, 3, field, 1, to, (rank + ranks - 1) % ranks, 3,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (i = 0; i < kRows; ++i) {
    const int left = 1000 * ((rank + ranks - 1) % ranks) + i * kColumns + kColumns - 2;
    CHECK_EQ(field[i][0], i == 0 || i == kRows - 1 ? 1000 * rank + i * kColumns : left);
    CHECK_EQ(field[i][1], 1000 * rank + i * kColumns + 1);
  }
  OK(MPI_Type_free(&from));
  OK(MPI_Type_free(&to));
}

int main(void) {
  MPI_Init(NULL, NULL);
  check_distribution(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 6);
  check_distribution(MPI_DISTRIBUTE_BLOCK, 6, 4);
  check_distribution(MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 8);
  check_distribution(MPI_DISTRIBUTE_CYCLIC, 3, 4);
  check_halo();
  MPI_Finalize();
  return 0;
}
