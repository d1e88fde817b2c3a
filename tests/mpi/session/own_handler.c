/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 7.4.2, 7.6.2 and 11.3.1: the error handler that is an argument of a call which makes a
 * session or a communicator from groups hears of wrong arguments, too; no other handler does. Sessions only,
 * so all others are fatal. np: 1-4 */
#include "check.h"

#if MPI_VERSION >= 4

static int calls;

static void on_session(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  ++calls;
}
static void on_comm(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

/* Whatever the class: an error, told to the handler once. */
#define HEARD(call)               \
  do {                            \
    const int before = calls;     \
    CHECK((call) != MPI_SUCCESS); \
    CHECK_EQ(calls, before + 1);  \
  } while (0)

static void wrong_arguments(MPI_Group world, MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Info freed, copy;
  OK(MPI_Info_create(&freed));
  copy = freed;
  OK(MPI_Info_free(&copy));
  HEARD(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, handler, &comm));
  HEARD(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, handler, &comm));
  HEARD(MPI_Comm_create_from_group(world, "tag", MPI_INFO_NULL, handler, NULL));
  HEARD(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, world, 0, "tag", MPI_INFO_NULL, handler, &comm));
  HEARD(MPI_Intercomm_create_from_groups(world, 0, world, 0, NULL, MPI_INFO_NULL, handler, &comm));
  HEARD(MPI_Intercomm_create_from_groups(world, 0, world, 0, "tag", MPI_INFO_NULL, handler, NULL));
  HEARD(MPI_Intercomm_create_from_groups(world, -1, world, 0, "tag", MPI_INFO_NULL, handler, &comm));
#ifdef MPI_ABI_VERSION /* peers do not recognise what has been freed */
  HEARD(MPI_Comm_create_from_group(world, "tag", freed, handler, &comm));
  HEARD(MPI_Intercomm_create_from_groups(world, 0, world, 0, "tag", freed, handler, &comm));
#endif
}

int main(void) {
  MPI_Session session, other;
  MPI_Errhandler mine, for_comms;
  MPI_Group world;
  MPI_Comm comm;
  OK(MPI_Session_create_errhandler(on_session, &mine));
  OK(MPI_Comm_create_errhandler(on_comm, &for_comms));
  HEARD(MPI_Session_init(MPI_INFO_NULL, mine, NULL));
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) != MPI_SUCCESS);
#ifdef MPI_ABI_VERSION /* a call that makes nothing before MPI is initialised */
  HEARD(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "tag", MPI_INFO_NULL, for_comms, &comm));
#endif
  OK(MPI_Session_init(MPI_INFO_NULL, mine, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  wrong_arguments(world, for_comms);
  CHECK(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS);
  /* The handler of a call that went well is not asked about later ones. */
  OK(MPI_Comm_create_from_group(world, "own_handler", MPI_INFO_NULL, for_comms, &comm));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
  {
    const int before = calls;
    int count;
    CHECK(MPI_Session_get_num_psets(other, MPI_INFO_NULL, NULL) != MPI_SUCCESS);
    OK(MPI_Session_get_num_psets(other, MPI_INFO_NULL, &count));
    CHECK_EQ(calls, before);
  }
  OK(MPI_Session_finalize(&other));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Group_free(&world));
  OK(MPI_Errhandler_free(&mine));
  OK(MPI_Errhandler_free(&for_comms));
  OK(MPI_Session_finalize(&session));
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
