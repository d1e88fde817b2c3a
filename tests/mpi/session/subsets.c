/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_from_group is collective over the group only: overlapping subsets one after the other,
 * with the processes outside doing nothing (MPI-4, 7.4.2). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(void) {
  MPI_Session session;
  MPI_Group world, group;
  MPI_Comm comm;
  int me, size, rank, number, sum;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_rank(world, &me));
  OK(MPI_Group_size(world, &size));
  for (int first = 0; first < size; ++first) { /* pairs along a chain: {0,1} {1,2} {2,3} ... */
    const int last = first + 1 < size ? first + 1 : first;
    if (me < first || me > last) continue;
    int range[1][3] = {{last, first, -1}}; /* backwards: the group's order is the ranks' order */
    OK(MPI_Group_range_incl(world, 1, range, &group));
    for (int repeat = 0; repeat < 3; ++repeat) { /* the same group and tag again */
      OK(MPI_Comm_create_from_group(group, "chain", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
      OK(MPI_Comm_rank(comm, &rank));
      OK(MPI_Comm_size(comm, &number));
      CHECK_EQ(number, last - first + 1);
      CHECK_EQ(rank, last - me);
      OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
      CHECK_EQ(sum, last == first ? first : first + last);
      OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
  }
  OK(MPI_Group_free(&world));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
