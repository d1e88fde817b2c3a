/* SPDX-License-Identifier: BSD-3-Clause */
/* An unknown process set is an error through the session's handler; the session stays usable
 * (MPI-4, 11.3.2). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(void) {
  MPI_Session session;
  MPI_Group group;
  int size;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK(MPI_Group_from_session_pset(session, "no://such-set", &group) != MPI_SUCCESS);
  OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  OK(MPI_Group_size(group, &size));
  CHECK_EQ(size, 1);
  OK(MPI_Group_free(&group));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
