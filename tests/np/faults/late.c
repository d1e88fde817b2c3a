/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank comes late to the last collective; those who need nothing from it have left MPI and ended
 * long before. Usage: late reduce|gather|barrier */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, i, in, sum = 0;
  int* const all = malloc(1000 * sizeof(int));
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = rank;
  for (i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) usleep(700000);
  if (strcmp(argv[1], "reduce") == 0) {
    MPI_Reduce(&in, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "gather") == 0) {
    MPI_Gather(&in, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < size; ++i) sum += all[i];
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    sum = size * (size - 1) / 2;
  }
  if (rank == 0) {
    if (sum != size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    puts("done");
  }
  free(all);
  MPI_Finalize();
  return 0;
}
