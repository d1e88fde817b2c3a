/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the job from the module check, which knows no interface of Fortran. */
#include <mpi.h>
#include <stdlib.h>

void check_abort(int comm, int code) {
  int running = 0, finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (running && !finished) MPI_Abort(MPI_Comm_fromint(comm), code);
  exit(code);
}
