/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 2+
 * Buffers of the library's that a program keeps: over a network they may be the transport's own memory, which
 * it must neither use again nor run short of (docs/design/managed-buffers.md, "Kept"). Even ranks send to the
 * next odd one, and back. */
#include "managed.h"

enum { kBytes = 60000, kWindow = 20, kMany = 320 };
static unsigned char out[kWindow][kBytes], own[kBytes];
static int rank, other;

/* One window of messages whose receives are posted before. */
static void window(MPI_Status* status, int bytes, int seed) {
  MPI_Request in[kWindow], sent[kWindow];
  char go = 0;
  for (int i = 0; i < kWindow; ++i)
    OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, kBytes, MPI_BYTE, i % 4 ? other : MPI_ANY_SOURCE, 10 + i,
                 MPI_COMM_WORLD, &in[i]));
  OK(MPI_Sendrecv(&go, 1, MPI_BYTE, other, 1, &go, 1, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < kWindow; ++i) {
    fill(out[i], (size_t)bytes, seed + i + rank);
    if (i % 5 == 4) {
      OK(MPI_Issend(out[i], bytes, MPI_BYTE, other, 10 + i, MPI_COMM_WORLD, &sent[i]));
    } else {
      OK(MPI_Isend(out[i], bytes, MPI_BYTE, other, 10 + i, MPI_COMM_WORLD, &sent[i]));
    }
  }
  OK(MPI_Waitall(kWindow, in, status));
  OK(MPI_Waitall(kWindow, sent, MPI_STATUSES_IGNORE));
}

static void expect(MPI_Status status, size_t bytes, int seed) {
  unsigned char* data = NULL;
  OK(MPIX_Get_recv_buf(status, (void**)&data));
  CHECK(data != NULL);
  CHECK_EQ((size_t)data % 16, 0);
  CHECK_EQ(first_difference(data, bytes, seed), -1);
}

/* More than any transport gives away. Ordinary messages go on meanwhile, and so do managed receives. */
static void hold_many(int bytes) {
  static MPI_Status status[kMany];
  for (int first = 0; first < kMany; first += kWindow) {
    window(status + first, bytes, first);
    fill(out[0], kBytes, first);
    OK(MPI_Sendrecv(out[0], kBytes, MPI_BYTE, other, 2, own, kBytes, MPI_BYTE, other, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(first_difference(own, kBytes, first), -1);
  }
  for (int i = 0; i < kMany; ++i) expect(status[i], (size_t)bytes, i + other);
  for (int step = 0; step < kMany;
       ++step) { /* each is written to before it is given back, and no other changes */
    const int i = step * 37 % kMany;
    take(status[i], (size_t)bytes, i + other);
  }
}

/* A receive that is too short, and one that is cancelled. */
static void ends(void) {
  MPI_Status status;
  MPI_Request in;
  void* data;
  char go = 0;
  int flag = 0;
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 5000, MPI_BYTE, other, 3, MPI_COMM_WORLD, &in));
  OK(MPI_Sendrecv(&go, 1, MPI_BYTE, other, 1, &go, 1, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  fill(out[0], 8000, 5);
  OK(MPI_Send(out[0], 8000, MPI_BYTE, other, 3, MPI_COMM_WORLD));
  CHECK_ERROR(MPI_Wait(&in, &status), MPI_ERR_TRUNCATE);
  OK(MPIX_Get_recv_buf(status, &data));
  CHECK_EQ(first_difference(data, 5000, 5), -1);
  OK(MPIX_Release_recv_buf(status, data));
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 5000, MPI_BYTE, other, 4, MPI_COMM_WORLD, &in));
  OK(MPI_Cancel(&in));
  OK(MPI_Wait(&in, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
}

int main(int argc, char** argv) {
  MPI_Status last[kWindow];
  unsigned char* data[kWindow];
  MPI_Init(&argc, &argv);
  NEED_MANAGED();
  rank = world_rank();
  other = rank ^ 1;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (other >= world_size()) return finish();
  hold_many(kBytes);
  hold_many(4096);
  ends();
  window(last, 20000, 7); /* never given back: they stay to the end of the process */
  for (int i = 0; i < kWindow; ++i) OK(MPIX_Get_recv_buf(last[i], (void**)&data[i]));
  MPI_Finalize();
  for (int i = 0; i < kWindow; ++i) CHECK_EQ(first_difference(data[i], 20000, 7 + i + other), -1);
  return 0;
}
