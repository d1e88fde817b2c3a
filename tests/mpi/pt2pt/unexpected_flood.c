/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver that is late finds every message, however many have come before it looked; the senders are
 * held back rather than memory exhausted (MPI-4, 3.5: a standard send may wait for its receive). */
#include "check.h"

enum { kMessages = 20000, kBytes = 512 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  unsigned char message[kBytes];
  if (me != 0) {
    for (int i = 0; i < kMessages / size; ++i) {
      fill(message, kBytes, i);
      OK(MPI_Send(message, kBytes, MPI_BYTE, 0, i % 2, MPI_COMM_WORLD));
    }
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
  } else {
    for (int from = size - 1; from >= 1; --from) {
      for (int i = 0; i < kMessages / size; ++i) {
        OK(MPI_Recv(message, kBytes, MPI_BYTE, from, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(first_difference(message, kBytes, i), -1);
      }
      OK(MPI_Recv(NULL, 0, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
  }
  return finish();
}
