/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that take pieces of work from a common queue: a counter in a window, and MPI_Fetch_and_op. No rank
 * serves the others. Each piece is done once, whoever is quicker.
 *
 *   mpiexec -n 4 ./work_queue */
#include <mpi.h>
#include <stdio.h>

#define PIECES 1000

static long work(long piece) { return piece * piece % 97; }

int main(int argc, char** argv) {
  long *counter, piece, mine = 0, done = 0, all[2], part[2], expected = 0;
  const long one = 1;
  int rank;
  MPI_Win queue;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* The counter lies on rank 0; the memory begins as zeros, but another MPI may not promise that. */
  MPI_Win_allocate(rank == 0 ? sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                   &queue);
  if (rank == 0) *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, queue);
  for (;;) {
    MPI_Fetch_and_op(&one, &piece, MPI_LONG, 0, 0, MPI_SUM, queue);
    MPI_Win_flush(0, queue);
    if (piece >= PIECES) break;
    mine += work(piece);
    ++done;
  }
  MPI_Win_unlock_all(queue);
  part[0] = mine;
  part[1] = done;
  MPI_Reduce(part, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Win_free(&queue);
  for (piece = 0; piece < PIECES; ++piece) expected += work(piece);
  if (rank == 0) printf("%ld pieces, sum %ld, expected %d and %ld\n", all[1], all[0], PIECES, expected);
  MPI_Finalize();
  return rank == 0 && (all[0] != expected || all[1] != PIECES);
}
