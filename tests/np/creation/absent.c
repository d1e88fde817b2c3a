/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses MPI_COMM_WORLD or MPI_COMM_SELF where there is none.    usage: absent world|self session|finalized */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const int self = argc > 1 && strcmp(argv[1], "self") == 0;
  const int session = argc > 2 && strcmp(argv[2], "session") == 0;
  MPI_Session opened;
  int rank;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &opened);
  if (!session) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
  }
  MPI_Comm_rank(self ? MPI_COMM_SELF : MPI_COMM_WORLD, &rank);
  printf("no error\n");
  return 0;
}
