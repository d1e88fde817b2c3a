/* SPDX-License-Identifier: BSD-3-Clause */
/* pi as the integral of 4/(1+x^2) over [0,1], the strips dealt out to the ranks. Usage: pi [strips] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  long strips = rank == 0 && argc > 1 ? atol(argv[1]) : 1000000;
  MPI_Bcast(&strips, 1, MPI_LONG, 0, MPI_COMM_WORLD);

  const double width = 1.0 / (double)strips;
  double mine = 0.0, pi = 0.0;
  for (long i = rank; i < strips; i += size) {
    const double x = ((double)i + 0.5) * width;
    mine += 4.0 / (1.0 + x * x);
  }
  mine *= width;
  MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

  int status = 0;
  if (rank == 0) {
    /* The midpoint rule is off by less than width^2; summing adds rounding of about 1e-10. */
    const double error = fabs(pi - acos(-1.0)), allowed = width * width + 1e-10;
    printf("pi is about %.12f, off by %.1e\n", pi, error);
    if (!(error <= allowed)) {
      fprintf(stderr, "expected an error of at most %.1e\n", allowed);
      status = 1;
    }
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
