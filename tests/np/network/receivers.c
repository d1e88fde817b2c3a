/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends something to everybody and is killed. The others only receive from it, so no send of theirs
 * finds out: each prints how it hears of the death. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int me, size, value = 0, code = MPI_SUCCESS, kind;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (me == 0) {
    for (int rank = 1; rank < size; ++rank) MPI_Ssend(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    raise(SIGKILL);
  }
  for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i)
    code = MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &kind);
  printf("rank %d: %s\n", me, kind == MPI_ERR_PROC_ABORTED ? "rank 0 has died" : "another error");
  fflush(stdout);
  _Exit(0);
}
