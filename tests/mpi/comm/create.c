/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create over subsets: members get a communicator in the group's order, the others MPI_COMM_NULL;
 * disjoint groups may be given at once (MPI-4, 7.4.2). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Group world, group;
  MPI_Comm comm;
  int rank, number, sum;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));

  /* every rank, backwards */
  int back[1][3] = {{size - 1, 0, -1}};
  OK(MPI_Group_range_incl(world, 1, back, &group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  OK(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(rank, size - 1 - me);
  int result;
  OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
  CHECK_EQ(result, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Group_free(&group));

  /* two disjoint halves at once */
  const int low = me < (size + 1) / 2;
  int half[1][3] = {{low ? 0 : (size + 1) / 2, low ? (size + 1) / 2 - 1 : size - 1, 1}};
  OK(MPI_Group_range_incl(world, 1, half, &group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  OK(MPI_Comm_size(comm, &number));
  CHECK_EQ(number, half[0][1] - half[0][0] + 1);
  OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, (half[0][0] + half[0][1]) * number / 2);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Group_free(&group));

  /* one member */
  const int only = size / 2;
  OK(MPI_Group_incl(world, 1, &only, &group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  if (me == only)
    OK(MPI_Comm_free(&comm));
  else
    CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Group_free(&group));

  /* nobody */
  OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);

  /* a process outside, named by one who is in the group: refused by those who would be members */
  if (size > 1) {
    MPI_Comm halves;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &halves));
    OK(MPI_Comm_set_errhandler(halves, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Comm_create(halves, world, &comm), MPI_ERR_GROUP);
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Comm_free(&halves));
  }
  OK(MPI_Group_free(&world));
  return finish();
}
