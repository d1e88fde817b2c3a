/* SPDX-License-Identifier: BSD-3-Clause */
/* A session that reaches all processes and ends before MPI_Init: the world model begins and ends as if there
 * had been none (MPI-4, 11.1, 11.3).
 * needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, sum;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "before.world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_finalize(&session));
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, size * (size - 1) / 2);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Finalize());
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
