/* SPDX-License-Identifier: BSD-3-Clause */
/* A rod whose ends are kept at two temperatures, in memory that the ranks of a node share: each rank computes
 * its part and reads its neighbours' edges where they stand, without messages.
 *
 *   mpiexec -n 4 ./stencil_shared */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define POINTS 100 /* of each rank */
#define STEPS 500

/* Where the points of a rank begin; the two halves are the old and the new temperatures. */
static double* part_of(MPI_Win win, int rank) {
  MPI_Aint bytes;
  int unit;
  double* base;
  MPI_Win_shared_query(win, rank, &bytes, &unit, &base);
  return base;
}

int main(int argc, char** argv) {
  int rank, size, bad = 0, any = 0;
  double *mine, *left = NULL, *right = NULL;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* With several nodes this would be a communicator of MPI_Comm_split_type. */
  MPI_Win_allocate_shared(2 * POINTS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                          &win);
  if (rank > 0) left = part_of(win, rank - 1);
  if (rank + 1 < size) right = part_of(win, rank + 1);
  for (int i = 0; i < 2 * POINTS; ++i) mine[i] = rank * POINTS + i % POINTS + 1;
  for (int step = 0; step < STEPS; ++step) {
    const int old = step % 2 * POINTS, new = POINTS - old;
    MPI_Win_fence(0, win); /* the neighbours' edges are there, and the new half is no longer read */
    for (int i = 0; i < POINTS; ++i) {
      const double before = i > 0 ? mine[old + i - 1] : left != NULL ? left[old + POINTS - 1] : 0.0;
      const double after = i + 1 < POINTS  ? mine[old + i + 1]
                           : right != NULL ? right[old]
                                           : POINTS * size + 1.0;
      mine[new + i] = 0.25 * before + 0.5 * mine[old + i] + 0.25 * after;
    }
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < POINTS; ++i)
    bad += fabs(mine[i] - (rank * POINTS + i + 1)) > 1e-9; /* even rise: stays */
  MPI_Reduce(&bad, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d points of %d are wrong\n", any, POINTS * size);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 0 && any != 0;
}
