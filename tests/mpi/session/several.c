/* SPDX-License-Identifier: BSD-3-Clause */
/* Several sessions live at once and end in any order; objects of one are independent of the others
 * (MPI-4, 11.3.1). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static MPI_Comm make(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
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

int main(void) {
  MPI_Session sessions[4];
  MPI_Comm comms[4];
  for (int i = 0; i < 4; ++i) OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]));
  for (int i = 0; i < 4; ++i) comms[i] = make(sessions[i], i % 2 ? "odd" : "even"); /* tags are used again */
  for (int i = 0; i < 4; ++i) use(comms[i]);
  static const int order[4] = {2, 0, 3, 1};
  for (int i = 0; i < 4; ++i) {
    OK(MPI_Comm_free(&comms[order[i]]));
    OK(MPI_Session_finalize(&sessions[order[i]]));
    for (int k = i + 1; k < 4; ++k) use(comms[order[k]]);
  }
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
