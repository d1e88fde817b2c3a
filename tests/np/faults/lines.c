/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank prints a line before MPI_Init and one behind it; then rank 1 aborts, and a signal ends the
 * others. lines [SIZE]: with a buffer of that size for standard output, 0: without one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* number = getenv("PMI_RANK");
  int rank;
  if (argc > 1) {
    static char buffer[65536];
    const size_t size = (size_t)atoi(argv[1]);
    setvbuf(stdout, buffer, size == 0 ? _IONBF : _IOFBF, size);
  }
  printf("rank %s starts\n", number == NULL ? "?" : number);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d works\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  pause();
  return 0;
}
