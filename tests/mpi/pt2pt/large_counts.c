/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point calls with counts of type MPI_Count, in all modes (MPI 5.0, chapter 3, 19.2).
 * needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { COUNT = 100 };

static int me, next, previous, out[COUNT], in[COUNT];

static void clear(void) {
  for (int i = 0; i < COUNT; ++i) in[i] = -1;
}

static void arrived(MPI_Status* status) {
  MPI_Count count = 0;
  OK(MPI_Get_count_c(status, MPI_INT, &count));
  CHECK_EQ(count, COUNT);
  for (int i = 0; i < COUNT; ++i) CHECK_EQ(in[i], previous * 1000 + i);
}

static void blocking(void) {
  typedef int (*Send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
  static const Send kSends[] = {MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c};
  for (int mode = 0; mode < 4; ++mode) {
    MPI_Request request;
    MPI_Status status;
    clear();
    OK(MPI_Irecv_c(in, COUNT, MPI_INT, previous, mode, MPI_COMM_WORLD, &request));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* a ready send finds its receive */
    OK(kSends[mode](out, COUNT, MPI_INT, next, mode, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    arrived(&status);
  }
}

static void nonblocking(void) {
  typedef int (*Send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static const Send kSends[] = {MPI_Isend_c,     MPI_Issend_c,     MPI_Ibsend_c,     MPI_Irsend_c,
                                MPI_Send_init_c, MPI_Ssend_init_c, MPI_Bsend_init_c, MPI_Rsend_init_c};
  for (int mode = 0; mode < 8; ++mode) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    clear();
    OK(MPI_Recv_init_c(in, COUNT, MPI_INT, previous, mode, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Start(&requests[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(kSends[mode](out, COUNT, MPI_INT, next, mode, MPI_COMM_WORLD, &requests[0]));
    if (mode >= 4) OK(MPI_Start(&requests[0]));
    OK(MPI_Waitall(2, requests, statuses));
    arrived(&statuses[1]);
    OK(MPI_Request_free(&requests[1]));
    if (mode >= 4) OK(MPI_Request_free(&requests[0]));
  }
}

static void matched(void) {
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  for (int wait = 0; wait < 2; ++wait) {
    clear();
    OK(MPI_Isend_c(out, COUNT, MPI_INT, next, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Mprobe(previous, 0, MPI_COMM_WORLD, &message, &status));
    if (wait) {
      MPI_Request receive;
      OK(MPI_Imrecv_c(in, COUNT, MPI_INT, &message, &receive));
      OK(MPI_Wait(&receive, &status));
    } else {
      OK(MPI_Mrecv_c(in, COUNT, MPI_INT, &message, &status));
    }
    arrived(&status);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

static void both_ways(void) {
  MPI_Status status;
  MPI_Request request;
  clear();
  OK(MPI_Sendrecv_c(out, COUNT, MPI_INT, next, 1, in, COUNT, MPI_INT, previous, 1, MPI_COMM_WORLD, &status));
  arrived(&status);
  for (int i = 0; i < COUNT; ++i) in[i] = out[i];
  OK(MPI_Sendrecv_replace_c(in, COUNT, MPI_INT, next, 2, previous, 2, MPI_COMM_WORLD, &status));
  arrived(&status);
  clear();
  OK(MPI_Isend_c(out, COUNT, MPI_INT, next, 3, MPI_COMM_WORLD, &request));
  OK(MPI_Recv_c(in, COUNT, MPI_INT, previous, 3, MPI_COMM_WORLD, &status));
  arrived(&status);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = world_rank();
  next = (me + 1) % world_size();
  previous = (me + world_size() - 1) % world_size();
  for (int i = 0; i < COUNT; ++i) out[i] = me * 1000 + i;
  static char room[20000];
  void* address = NULL;
  MPI_Count bytes = 0;
  OK(MPI_Buffer_attach_c(room, sizeof room));
  blocking();
  nonblocking();
  matched();
  both_ways();
  OK(MPI_Buffer_detach_c(&address, &bytes));
  CHECK(address == room);
  CHECK_EQ(bytes, sizeof room);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
