/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create of groups that are not disjoint, or with arguments that only the leader looks at,
 * fails on every member of the group (MPI 5.0, 7.6.2). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm copy, made;
  const int me = world_rank(), size = world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  CHECK(MPI_Intercomm_create(copy, size, MPI_COMM_WORLD, 0, 1, &made) != MPI_SUCCESS);
  CHECK(MPI_Intercomm_create(copy, -1, MPI_COMM_WORLD, 0, 1, &made) != MPI_SUCCESS);
  CHECK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, me, 1, &made) != MPI_SUCCESS);
  OK(MPI_Comm_free(&copy));
  return finish();
}
