/* SPDX-License-Identifier: BSD-3-Clause */
/* Every send mode, blocking and nonblocking, to every rank including itself: the status tells source, tag
 * and count, and the bytes arrive (MPI-4, 3.4, 3.7.2, 3.2.5). */
#include "check.h"

enum { kModes = 8, kMaxBytes = 100000 };
static const int sizes[] = {0, 1, 8, 1000, 70000, kMaxBytes};

static void send_with(int mode, const void* buffer, int bytes, int to, int tag, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  switch (mode) {
    case 0: OK(MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request)); break;
    case 1: OK(MPI_Issend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request)); break;
    case 2: OK(MPI_Ibsend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request)); break;
    case 3: OK(MPI_Irsend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request)); break;
    case 4: OK(MPI_Send(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD)); break;
    case 5: OK(MPI_Ssend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD)); break;
    case 6: OK(MPI_Bsend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD)); break;
    default: OK(MPI_Rsend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD)); break;
  }
}

/* The receive is posted on `to` before the barrier, so that ready mode is allowed and self messages
 * complete. */
static void exchange(int from, int to, int mode, int bytes, int seed) {
  static unsigned char out[kMaxBytes], in[kMaxBytes];
  const int me = world_rank();
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  MPI_Status status;
  count_t count;
  if (me == to) {
    memset(in, 0xee, (size_t)bytes);
    OK(MPI_Irecv(in, bytes, MPI_BYTE, from, seed, MPI_COMM_WORLD, &receive));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (me == from) {
    fill(out, (size_t)bytes, seed);
    send_with(mode, out, bytes, to, seed, &send);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(send == MPI_REQUEST_NULL);
  }
  if (me == to) {
    OK(MPI_Wait(&receive, &status));
    CHECK(receive == MPI_REQUEST_NULL);
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_EQ(status.MPI_TAG, seed);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(first_difference(in, (size_t)bytes, seed), -1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size();
  const int room = kMaxBytes + MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)room);
  OK(MPI_Buffer_attach(buffer, room));
  int seed = 0;
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; to += from == 0 ? 1 : size - 1 > 0 ? size - 1 : 1)
      for (int mode = 0; mode < kModes; ++mode)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
          exchange(from, to, mode, sizes[s], ++seed);
  void* detached;
  count_t detached_bytes;
  OK(MPI_Buffer_detach(&detached, &detached_bytes));
  CHECK(detached == buffer);
  CHECK_EQ(detached_bytes, room);
  free(buffer);
  return finish();
}
