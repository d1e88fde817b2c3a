/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait in MPI_Recv for the last one, which is to be killed: bench/faults. The first prints
 * "waiting" when all are there, and "told" when its receive has returned an error. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, token;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    puts("waiting");
    fflush(stdout);
  }
  while (rank == size - 1) pause();
  const int code = MPI_Recv(&token, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS && rank == 0) {
    puts("told");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
