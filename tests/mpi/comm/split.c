/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split: colour chooses the new communicator, key the order, the old rank breaks ties,
 * MPI_UNDEFINED stays out (MPI-4, 7.4.2). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Comm part;
  int rank, number, sum;

  /* odd and even, in reverse order */
  OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part));
  OK(MPI_Comm_rank(part, &rank));
  OK(MPI_Comm_size(part, &number));
  const int members = (size + 1 - me % 2) / 2;
  CHECK_EQ(number, members);
  CHECK_EQ(rank, members - 1 - me / 2);
  OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, part));
  int expected = 0;
  for (int r = me % 2; r < size; r += 2) expected += r;
  CHECK_EQ(sum, expected);

  /* a part of a part */
  MPI_Comm half;
  OK(MPI_Comm_split(part, rank < (number + 1) / 2 ? 7 : 1000000, 0, &half));
  int half_rank, half_size;
  OK(MPI_Comm_rank(half, &half_rank));
  OK(MPI_Comm_size(half, &half_size));
  CHECK_EQ(half_size, rank < (number + 1) / 2 ? (number + 1) / 2 : number / 2);
  CHECK_EQ(half_rank, rank < (number + 1) / 2 ? rank : rank - (number + 1) / 2); /* equal keys: old order */
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_free(&part));

  /* only the last rank stays in */
  OK(MPI_Comm_split(MPI_COMM_WORLD, me == size - 1 ? 0 : MPI_UNDEFINED, 0, &part));
  if (me == size - 1) {
    OK(MPI_Comm_size(part, &number));
    CHECK_EQ(number, 1);
    OK(MPI_Comm_free(&part));
  } else {
    CHECK(part == MPI_COMM_NULL);
  }
  return finish();
}
