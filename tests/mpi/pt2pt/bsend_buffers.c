/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the process, a communicator and a session: the nearest one is used, each has its own room;
 * flushing with and without waiting; what is given back (MPI 5.0, 3.6). needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { BYTES = 1000, ROOM = BYTES + MPI_BSEND_OVERHEAD + 64 };

static unsigned char message[BYTES], got[BYTES];

static void receive(MPI_Comm comm, int from, int seed) {
  OK(MPI_Recv(got, BYTES, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(first_difference(got, BYTES, seed), -1);
}

/* The communicator's buffer holds one message; the process's none. */
static void nearest_is_used(MPI_Comm comm, int me, int size) {
  char* const room = malloc(ROOM);
  void* address = NULL;
  MPI_Request request;
  int bytes = 0;
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Bsend(message, BYTES, MPI_BYTE, me, 0, comm), MPI_ERR_BUFFER);
  OK(MPI_Comm_attach_buffer(comm, room, ROOM));
  CHECK_ERROR(MPI_Comm_attach_buffer(comm, room, ROOM), MPI_ERR_BUFFER);
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  fill(message, BYTES, me + 50); /* a copy has been taken */
  receive(comm, (me + size - 1) % size, (me + size - 1) % size);
  OK(MPI_Comm_flush_buffer(comm));
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  OK(MPI_Comm_iflush_buffer(comm, &request));
  receive(comm, (me + size - 1) % size, (me + size - 1) % size + 50);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_detach_buffer(comm, &address, &bytes));
  CHECK(address == room);
  CHECK_EQ(bytes, ROOM);
  CHECK_ERROR(MPI_Bsend(message, BYTES, MPI_BYTE, me, 0, comm), MPI_ERR_BUFFER);
  fill(message, BYTES, me);
  /* A buffer of any size, and one of the process: the communicator's is taken. */
  OK(MPI_Buffer_attach(room, ROOM));
  OK(MPI_Comm_attach_buffer_c(comm, MPI_BUFFER_AUTOMATIC, 0));
  for (int i = 0; i < 20; ++i) OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  for (int i = 0; i < 20; ++i) receive(comm, (me + size - 1) % size, (me + size - 1) % size);
  MPI_Count wide;
  OK(MPI_Comm_detach_buffer_c(comm, &address, &wide));
  CHECK(address == MPI_BUFFER_AUTOMATIC);
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  OK(MPI_Buffer_iflush(&request));
  receive(comm, (me + size - 1) % size, (me + size - 1) % size);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Buffer_flush());
  OK(MPI_Buffer_detach(&address, &bytes));
  CHECK(address == room);
  free(room);
}

static void of_a_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Request request;
  char* const room = malloc(ROOM);
  void* address = NULL;
  MPI_Count wide;
  int me, size, bytes = 0;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Comm_size(comm, &size));
  CHECK_ERROR(MPI_Bsend(message, BYTES, MPI_BYTE, me, 0, comm), MPI_ERR_BUFFER);
  OK(MPI_Session_attach_buffer(session, room, ROOM));
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  OK(MPI_Session_iflush_buffer(session, &request));
  receive(comm, (me + size - 1) % size, (me + size - 1) % size);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Session_detach_buffer(session, &address, &bytes));
  CHECK(address == room);
  CHECK_EQ(bytes, ROOM);
  OK(MPI_Session_attach_buffer_c(session, room, ROOM));
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, (me + 1) % size, 0, comm));
  receive(comm, (me + size - 1) % size, (me + size - 1) % size);
  OK(MPI_Session_flush_buffer(session));
  OK(MPI_Session_detach_buffer_c(session, &address, &wide));
  CHECK_EQ(wide, ROOM);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_finalize(&session));
  free(room);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  const int me = world_rank(), size = world_size();
  fill(message, BYTES, me);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  nearest_is_used(comm, me, size);
  OK(MPI_Comm_free(&comm));
  of_a_session();
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
