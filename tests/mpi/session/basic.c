/* SPDX-License-Identifier: BSD-3-Clause */
/* A session is local; its process sets have names and sizes; a communicator is made from a group; no world
 * model at all (MPI-4, 11.3). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  int sets, rank, size, sum, flag;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
  CHECK(sets >= 2);
  int world_seen = 0, self_seen = 0;
  for (int i = 0; i < sets; ++i) {
    int length = 0;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
    CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN + 1);
    char* name = malloc((size_t)length);
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    world_seen += strcmp(name, "mpi://WORLD") == 0;
    self_seen += strcmp(name, "mpi://SELF") == 0;
    OK(MPI_Session_get_pset_info(session, name, &info));
    char text[64];
    int room = sizeof text;
    OK(MPI_Info_get_string(info, "mpi_size", &room, text, &flag));
    CHECK(flag);
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Group_size(group, &size));
    CHECK_EQ(atoi(text), size);
    OK(MPI_Group_free(&group));
    OK(MPI_Info_free(&info));
    free(name);
  }
  CHECK_EQ(world_seen, 1);
  CHECK_EQ(self_seen, 1);

  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "test.basic", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &size));
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
  OK(MPI_Comm_free(&comm));

  OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  OK(MPI_Comm_create_from_group(group, "test.self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(size, 1);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_get_info(session, &info));
  OK(MPI_Info_free(&info));
  OK(MPI_Session_finalize(&session));
  CHECK(session == MPI_SESSION_NULL);
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
