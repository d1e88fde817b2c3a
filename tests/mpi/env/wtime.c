/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wtime never goes back, ticks at MPI_Wtick, and runs with the wall clock (MPI-4, 9.6). */
#include "check.h"

#include <time.h>

static double wall(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  CHECK(MPI_Wtick() > 0.0 && MPI_Wtick() <= 1e-3);
  double last = MPI_Wtime();
  for (int i = 0; i < 100000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
  const double wall_start = wall(), mpi_start = MPI_Wtime();
  struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  const double mpi_end = MPI_Wtime(), wall_end = wall();
  CHECK(mpi_end - mpi_start <= wall_end - wall_start + 1e-3);
  CHECK(mpi_end - mpi_start >= 0.049);
  return finish();
}
