/* SPDX-License-Identifier: BSD-3-Clause */
/* After the last session has ended a new one can begin, with new communicators, any number of times
 * (MPI-4, 11.3.1). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(void) {
  for (int round = 0; round < 20; ++round) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, sum;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    int mine = rank + round;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2 + round * size);
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
  }
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
