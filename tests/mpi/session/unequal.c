/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks call MPI_Session_init and _finalize unequally often, between two meetings of all
 * (MPI-4, 11.3.1: both are local unless communicators have to be disconnected). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static int meet(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, sum;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "meet", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &size));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_finalize(&session));
  return rank;
}

int main(void) {
  int rank = meet();
  for (int round = 1; round < 4; ++round) {
    for (int i = 0; i < (rank + round) % 3 * 5 + 1; ++i) {
      MPI_Session session;
      OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
      OK(MPI_Session_finalize(&session));
    }
    CHECK_EQ(meet(), rank);
  }
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
