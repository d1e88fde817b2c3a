/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends a message to each rank ROUNDS times, to one after the other, so that each connection idles
 * while the others are used.    usage: all ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 3000

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1, rank, size, round, shift, i;
  long bad = 0, all = 0;
  static int out[WORDS], in[WORDS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (round = 0; round < rounds; ++round) {
    for (shift = 0; shift < size; ++shift) {
      int to = (rank + shift) % size, from = (rank - shift + size) % size, words = round % 3 == 0 ? 1 : WORDS;
      for (i = 0; i < words; ++i) out[i] = rank * 1000 + round + i;
      MPI_Sendrecv(out, words, MPI_INT, to, round, in, words, MPI_INT, from, round, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      for (i = 0; i < words; ++i) bad += in[i] != from * 1000 + round + i;
    }
  }
  MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages, %ld wrong\n", rounds * size * size, all);
  MPI_Finalize();
  return bad != 0;
}
