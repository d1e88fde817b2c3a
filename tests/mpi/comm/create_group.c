/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_group is collective over the group only; tags keep simultaneous creations apart
 * (MPI-4, 7.4.2). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Group world, group;
  MPI_Comm comm;
  int number, sum;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  for (int first = 0; first < size; ++first) { /* [first, size): the ranks below never call */
    if (me < first) break;
    int range[1][3] = {{first, size - 1, 1}};
    OK(MPI_Group_range_incl(world, 1, range, &group));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, first, &comm));
    OK(MPI_Comm_size(comm, &number));
    CHECK_EQ(number, size - first);
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, (first + size - 1) * number / 2);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
  }
  OK(MPI_Group_free(&world));
  return finish();
}
