/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends COUNT messages to the last rank and ends; the last rank checks them. With WHO and DELAY_MS,
 * that rank comes to MPI_Init so much later.    usage: pair COUNT [WHO DELAY_MS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int launcher_rank(void) {
  const char* text = getenv("PMI_RANK");
  return text == NULL ? 0 : atoi(text);
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  int rank, size, i, bad = 0;
  int words[2000];
  if (argc > 3 && launcher_rank() == atoi(argv[2])) {
    long ms = atol(argv[3]);
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < count; ++i) {
    int length = 1 + i * 37 % 2000, at;
    if (rank == 0) {
      for (at = 0; at < length; ++at) words[at] = i * 7919 + at;
      MPI_Send(words, length, MPI_INT, size - 1, i, MPI_COMM_WORLD);
    }
    if (rank == size - 1) {
      MPI_Recv(words, length, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (at = 0; at < length; ++at) bad += words[at] != i * 7919 + at;
    }
  }
  if (rank == size - 1) printf("%d messages, %d wrong words\n", count, bad);
  MPI_Finalize();
  return bad != 0;
}
