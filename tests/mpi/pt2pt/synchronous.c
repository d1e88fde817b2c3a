/* SPDX-License-Identifier: BSD-3-Clause */
/* A synchronous send completes only after its receive has started (MPI-4, 3.4): the sender's flag, passed
 * by a message of its own, shows that it had not completed before. np: 2+ */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  static const int sizes[] = {0, 1, 4096, 500000};
  for (int s = 0; s < 4; ++s) {
    const int bytes = sizes[s];
    unsigned char* buffer = calloc((size_t)bytes + 1, 1);
    int early = -1;
    if (me == 0) {
      MPI_Request request;
      int flag = 0;
      OK(MPI_Issend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
      for (int i = 0; i < 1000 && !flag; ++i) OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
      early = flag;
      OK(MPI_Send(&early, 1, MPI_INT, 1, 2, MPI_COMM_WORLD)); /* the receiver waits for this first */
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (me == 1) {
      OK(MPI_Recv(&early, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(early, 0);
      OK(MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    free(buffer);
  }
  return finish();
}
