/* SPDX-License-Identifier: BSD-3-Clause */
/* A program goes on to ask for messages, and takes back receives that were posted in case something comes,
 * although those that could have sent have called MPI_Finalize before (MPI 5.0, 3.8.1, 3.8.4). np: 2-4 */
#include <time.h>

#include "check.h"

enum { RECEIVES = 2, LOOKS = 100 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (world_rank() != 0) return finish();
  const struct timespec pause = {0, 5000000};
  MPI_Request requests[RECEIVES];
  int values[RECEIVES] = {-1, -1}, flag;
  OK(MPI_Irecv(&values[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]));
  for (int i = 0; i < LOOKS; ++i) { /* until the others have left, on most machines */
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Test(&requests[i % RECEIVES], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    nanosleep(&pause, NULL);
  }
  for (int i = 0; i < RECEIVES; ++i) {
    MPI_Status status;
    OK(MPI_Cancel(&requests[i]));
    OK(MPI_Wait(&requests[i], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    CHECK_EQ(values[i], -1);
  }
  return finish();
}
