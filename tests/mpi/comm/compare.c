/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_compare: identical, congruent, similar, unequal (MPI-4, 7.4.1). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Comm same, reversed, single;
  int result;
  OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &same));
  OK(MPI_Comm_compare(MPI_COMM_WORLD, same, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed));
  OK(MPI_Comm_compare(MPI_COMM_WORLD, reversed, &result));
  CHECK_EQ(result, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  OK(MPI_Comm_split(MPI_COMM_WORLD, me, 0, &single));
  OK(MPI_Comm_compare(MPI_COMM_WORLD, single, &result));
  CHECK_EQ(result, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  OK(MPI_Comm_compare(MPI_COMM_SELF, single, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  OK(MPI_Comm_free(&same));
  OK(MPI_Comm_free(&reversed));
  OK(MPI_Comm_free(&single));
  return finish();
}
