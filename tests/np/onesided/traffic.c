/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank puts COUNT times into the window of the next one, and flushes.    usage: traffic COUNT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define INTS 4096

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  static int mine[INTS], out[INTS];
  int rank, size;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < count; ++i) {
    out[0] = i;
    MPI_Put(out, INTS, MPI_INT, (rank + 1) % size, 0, INTS, MPI_INT, win);
    MPI_Win_flush((rank + 1) % size, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  if (rank == 0) puts("all put");
  return 0;
}
