/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered messages without bytes take no room in the buffer, and give away none that belongs to others which
 * still wait in it (MPI 5.0, 3.6). */
#include "check.h"

/* More than any MPI sends to a process that receives nothing, so that the last ones wait in the buffer. */
enum { MESSAGES = 8000, BYTES = 1000, ROOM = MESSAGES * (BYTES + 8 + 2 * MPI_BSEND_OVERHEAD) };

static unsigned char message[BYTES], got[BYTES];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void *const room = malloc(ROOM), *back = NULL;
  int bytes = 0;
  MPI_Status status;
  OK(MPI_Buffer_attach(room, ROOM));
  for (int i = 0; i < MESSAGES; ++i) {
    fill(message, BYTES, i);
    OK(MPI_Bsend(message, BYTES, MPI_BYTE, 0, 0, MPI_COMM_SELF));
    OK(MPI_Bsend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF));
  }
  for (int i = 0; i < MESSAGES; ++i) {
    OK(MPI_Recv(got, BYTES, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(first_difference(got, BYTES, i), -1);
    OK(MPI_Recv(got, BYTES, MPI_BYTE, 0, 0, MPI_COMM_SELF, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    CHECK_EQ(bytes, 0);
  }
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK(back == room);
  CHECK_EQ(bytes, ROOM);
  free(room);
  return finish();
}
