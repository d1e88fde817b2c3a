/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create_from_groups: two groups, no communicator before; the remote group counts at the leader
 * only (MPI 5.0, 7.6.2, 11.3). np: 2+ needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(void) {
  MPI_Session session;
  MPI_Group world, local, remote;
  MPI_Comm comm;
  MPI_Info info;
  int me, size, inter, others, got, sum, ranks[2][64], count[2] = {0, 0};
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  OK(MPI_Group_rank(world, &me));
  OK(MPI_Group_size(world, &size));
  const int side = me % 2;
  for (int i = size - 1; i >= 0; --i) ranks[i % 2][count[i % 2]++] = i;
  OK(MPI_Group_incl(world, count[side], ranks[side], &local));
  OK(MPI_Group_incl(world, count[1 - side], ranks[1 - side], &remote));
  OK(MPI_Group_rank(local, &got));
  const int leader = got == count[side] - 1;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "starling_test", "yes"));
  for (int round = 0; round < 3; ++round) {
    const int made = MPI_Intercomm_create_from_groups(
        local, count[side] - 1, leader ? remote : MPI_GROUP_EMPTY, leader ? count[1 - side] - 1 : -1, "test",
        round == 0 ? MPI_INFO_NULL : info, MPI_ERRORS_RETURN, &comm);
    OK(made);
    OK(MPI_Comm_test_inter(comm, &inter));
    CHECK(inter);
    OK(MPI_Comm_remote_size(comm, &others));
    CHECK_EQ(others, count[1 - side]);
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    int want = 0;
    for (int i = 0; i < others; ++i) want += ranks[1 - side][i];
    CHECK_EQ(sum, want);
    CHECK_ERROR(MPI_Send(&me, 1, MPI_INT, others, 0, comm), MPI_ERR_RANK);
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Info_free(&info));
  OK(MPI_Group_free(&world));
  OK(MPI_Group_free(&local));
  OK(MPI_Group_free(&remote));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
