/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not defined for an intercommunicator, or only for one, is refused (MPI 5.0, 6.2.3, 6.11, 7.6).
 * np: 2+ */
#include "inter.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Bridge b = build_bridge(ONE_AND_REST, 0);
  MPI_Comm made;
  MPI_Group group;
  int size = 0, in[64], out[64] = {0};
  OK(MPI_Comm_set_errhandler(b.local, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(b.between, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Send(&size, 1, MPI_INT, b.others, 0, b.between), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Bcast(in, 1, MPI_INT, b.others, b.between), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Comm_remote_size(b.local, &size), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Comm_remote_group(b.local, &group), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Intercomm_merge(b.local, 0, &made), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Intercomm_create(b.between, 0, MPI_COMM_WORLD, 0, 1, &made), MPI_ERR_COMM);
  OK(MPI_Comm_group(b.between, &group));
  CHECK_ERROR(MPI_Comm_create_group(b.between, group, 1, &made), MPI_ERR_COMM);
  OK(MPI_Group_free(&group));
  CHECK_ERROR(MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, b.between), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, b.between), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, b.between), MPI_ERR_BUFFER);
  CHECK_ERROR(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in, 1, MPI_INT, b.between), MPI_ERR_BUFFER);
  free_bridge(&b);
  return finish();
}
