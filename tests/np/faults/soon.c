/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 ends right after its MPI_Init with the code that is given, while others may still be in theirs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) _Exit(argc > 1 ? atoi(argv[1]) : 0);
  printf("rank %d goes on\n", rank);
  MPI_Finalize();
  return 0;
}
