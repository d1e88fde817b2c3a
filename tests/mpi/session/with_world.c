/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions before, within and after the world model: each is independent of MPI_Init and MPI_Finalize
 * (MPI-4, 11.1, 11.3).
 * needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static MPI_Comm make(MPI_Session session) {
  MPI_Group group;
  MPI_Comm comm;
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "with.world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  return comm;
}

static void use(MPI_Comm comm) {
  int rank, size, sum;
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &size));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
}

int main(int argc, char** argv) {
  MPI_Session before, within, after;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &before));
  MPI_Comm outer = make(before);
  int flag = 1;
  OK(MPI_Initialized(&flag));
  CHECK(!flag); /* the world model is not begun by a session */
  OK(MPI_Init(&argc, &argv));
  use(MPI_COMM_WORLD);
  use(outer);
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &within));
  MPI_Comm inner = make(within);
  use(inner);
  OK(MPI_Comm_free(&inner));
  OK(MPI_Session_finalize(&within));
  OK(MPI_Finalize());
  OK(MPI_Finalized(&flag));
  CHECK(flag);
  use(outer); /* outlives the world model */
  OK(MPI_Comm_free(&outer));
  OK(MPI_Session_finalize(&before));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &after));
  outer = make(after);
  use(outer);
  OK(MPI_Comm_free(&outer));
  OK(MPI_Session_finalize(&after));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
