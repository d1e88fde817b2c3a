/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks send 8 bytes to and fro, N times. A pause before each receive lets the message arrive first, so
 * that no poll finds nothing: rank 0 is half a pause behind rank 1. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { kPauseUs = 20000, kWarm = 20 };

static double number;

/* What rank 1 does; callgrind counts in here, and writes its counts at each return. */
__attribute__((noinline)) void counted(void);
void counted(void) {
  MPI_Recv(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int times = kWarm + (argc > 1 ? atoi(argv[1]) : 1);
  if (rank == 0) usleep(kPauseUs / 2);
  for (int i = 0; i < times; ++i) {
    if (rank == 0) MPI_Send(&number, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    usleep(kPauseUs);
    if (rank == 0) MPI_Recv(&number, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) counted();
  }
  MPI_Finalize();
  return 0;
}
