/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends complete without the receiver; detaching waits until they are delivered; without room
 * there is an error of class MPI_ERR_BUFFER (MPI-4, 3.4, 3.6). */
#include "check.h"

enum { kMessages = 20, kBytes = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));

  count_t packed;
  OK(MPI_Pack_size(kBytes, MPI_BYTE, MPI_COMM_WORLD, &packed));
  const int room = kMessages * (packed + MPI_BSEND_OVERHEAD);
  char* area = malloc((size_t)room);
  unsigned char message[kBytes];
  for (int round = 0; round < 3; ++round) {
    OK(MPI_Buffer_attach(area, room));
    for (int i = 0; i < kMessages; ++i) {
      fill(message, kBytes, round * 100 + i);
      OK(MPI_Bsend(message, kBytes, MPI_BYTE, next, i, MPI_COMM_WORLD));
      memset(message, 0, kBytes); /* ours again */
    }
    for (int i = kMessages - 1; i >= 0; --i) {
      OK(MPI_Recv(message, kBytes, MPI_BYTE, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(first_difference(message, kBytes, round * 100 + i), -1);
    }
    void* back;
    count_t bytes;
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == area);
    CHECK_EQ(bytes, room);
  }

  /* Room for one; the second has to be refused as long as the first cannot be delivered. Every rank's first
   * message is received after the barrier only. */
  const int small = (int)packed + MPI_BSEND_OVERHEAD;
  static unsigned char large[1 << 20];
  void* back;
  count_t bytes;
  OK(MPI_Buffer_attach(area, small));
  CHECK_ERROR(MPI_Bsend(large, (int)sizeof large, MPI_BYTE, next, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK_EQ(bytes, small);
  free(area);
  return finish();
}
