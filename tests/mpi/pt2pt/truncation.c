/* SPDX-License-Identifier: BSD-3-Clause */
/* A message longer than the receive buffer is an error of class MPI_ERR_TRUNCATE on the receiver, writes
 * nothing beyond the buffer, and disturbs no later message (MPI-4, 3.2.4). */
#include "check.h"

static void check_one(int bytes, int room, int posted_first) {
  const int me = world_rank();
  unsigned char* out = malloc((size_t)bytes);
  unsigned char* in = malloc((size_t)room + 16);
  MPI_Request send, receive;
  int token = -1;
  fill(out, (size_t)bytes, 3);
  memset(in, 0xab, (size_t)room + 16);
  if (posted_first) OK(MPI_Irecv(in, room, MPI_BYTE, me, 1, MPI_COMM_WORLD, &receive));
  OK(MPI_Isend(out, bytes, MPI_BYTE, me, 1, MPI_COMM_WORLD, &send));
  if (!posted_first) OK(MPI_Irecv(in, room, MPI_BYTE, me, 1, MPI_COMM_WORLD, &receive));
  CHECK_ERROR(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  for (int i = 0; i < 16; ++i) CHECK_EQ(in[room + i], 0xab);

  OK(MPI_Sendrecv(&bytes, 1, MPI_INT, me, 2, &token, 1, MPI_INT, me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(token, bytes);
  free(in);
  free(out);
}

/* The same between two processes, where the sender of a long message must not hang. */
static void check_pair(int bytes) {
  const int me = world_rank();
  unsigned char* buffer = malloc((size_t)bytes);
  int token = 0;
  if (me == 0) {
    fill(buffer, (size_t)bytes, 4);
    OK(MPI_Send(buffer, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    token = 17;
    OK(MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
  } else if (me == 1) {
    CHECK_ERROR(MPI_Recv(buffer, bytes / 2, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_TRUNCATE);
    OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(token, 17);
  }
  free(buffer);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  for (int first = 0; first < 2; ++first) {
    check_one(8, 4, first);
    check_one(5000, 0, first);
  }
  if (world_size() > 1) {
    check_pair(16);
    check_pair(9000);
    check_pair(1 << 20);
  }
  return finish();
}
