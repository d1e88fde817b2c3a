/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 20.3: a handle as an int and back, at any time; the int of a predefined handle is its
 * constant. needs: mpi-5 */
#include "check.h"

#ifdef MPI_ABI_VERSION
#include <stdint.h>

#define SURVIVES(Kind, handle) CHECK(MPI_##Kind##_fromint(MPI_##Kind##_toint(handle)) == (handle))
#define IS_CONSTANT(Kind, handle)                             \
  do {                                                        \
    SURVIVES(Kind, handle);                                   \
    CHECK_EQ(MPI_##Kind##_toint(handle), (intptr_t)(handle)); \
  } while (0)

static void predefined(void) {
  IS_CONSTANT(Comm, MPI_COMM_WORLD);
  IS_CONSTANT(Comm, MPI_COMM_NULL);
  IS_CONSTANT(Errhandler, MPI_ERRORS_ABORT);
  IS_CONSTANT(File, MPI_FILE_NULL);
  IS_CONSTANT(Group, MPI_GROUP_EMPTY);
  IS_CONSTANT(Info, MPI_INFO_ENV);
  IS_CONSTANT(Message, MPI_MESSAGE_NO_PROC);
  IS_CONSTANT(Op, MPI_MAXLOC);
  IS_CONSTANT(Request, MPI_REQUEST_NULL);
  IS_CONSTANT(Session, MPI_SESSION_NULL);
  IS_CONSTANT(Type, MPI_DOUBLE);
  IS_CONSTANT(Type, MPI_DATATYPE_NULL);
  IS_CONSTANT(Win, MPI_WIN_NULL);
}

static void on_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Objects that the program made: two of a kind have two numbers. */
static void made(void) {
  MPI_Errhandler handler;
  MPI_Group group;
  MPI_Info info, second;
  MPI_Op op;
  MPI_Datatype type;
  MPI_Session session;
  OK(MPI_Comm_create_errhandler(on_error, &handler));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_create(&second));
  OK(MPI_Op_create(add, 1, &op));
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  SURVIVES(Errhandler, handler);
  SURVIVES(Group, group);
  SURVIVES(Info, info);
  SURVIVES(Op, op);
  SURVIVES(Type, type);
  SURVIVES(Session, session);
  CHECK(MPI_Info_toint(info) != MPI_Info_toint(second));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Group_free(&group));
  OK(MPI_Info_free(&info));
  OK(MPI_Info_free(&second));
  OK(MPI_Op_free(&op));
  OK(MPI_Type_free(&type));
  OK(MPI_Session_finalize(&session));
}

/* A request and a matched message can be completed through the handle that comes back. */
static void pending(void) {
  int sent = 5, got = 0;
  MPI_Request request, same;
  MPI_Message message, same_message;
  OK(MPI_Isend(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  OK(MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
  same_message = MPI_Message_fromint(MPI_Message_toint(message));
  CHECK(same_message == message);
  OK(MPI_Mrecv(&got, 1, MPI_INT, &same_message, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 5);
  same = MPI_Request_fromint(MPI_Request_toint(request));
  CHECK(same == request);
  OK(MPI_Wait(&same, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  predefined();
  MPI_Init(&argc, &argv);
  predefined();
  made();
  pending();
  OK(MPI_Finalize());
  predefined();
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
