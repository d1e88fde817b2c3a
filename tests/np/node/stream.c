/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends rank 1 messages of 1 MiB, as many as the first argument says; each is looked at. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 1 << 20 };

int main(int argc, char** argv) {
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const int messages = argc > 1 ? atoi(argv[1]) : 1;
  unsigned char* const buffer = malloc(kBytes);
  for (int i = 0; me < 2 && i < messages; ++i) {
    if (me == 0) {
      memset(buffer, i % 251 + 1, kBytes);
      MPI_Send(buffer, kBytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    } else {
      memset(buffer, 0, kBytes);
      MPI_Recv(buffer, kBytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int at = 0; at < kBytes; ++at) {
        if (buffer[at] == i % 251 + 1) continue;
        fprintf(stderr, "message %d: byte %d is %d\n", i, at, buffer[at]);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
