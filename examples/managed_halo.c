/* SPDX-License-Identifier: BSD-3-Clause */
/* A halo exchange whose receive buffers come from the library, where it has such buffers, and from the
 * program where it has not: the same binary runs with every library of the MPI ABI.
 *
 * A square of cells is cut into strips, one for each rank. In each round a rank sends the edge rows of its
 * strip to its neighbours and receives theirs, then every cell becomes the mean of itself and its four
 * neighbours.
 * The sum of
 * all cells stays what it was. */
#include <math.h>
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWidth = 8192, kRows = 16, kRounds = 50 };

/* What arrives from above and from below. */
struct halo {
  int managed;     /* the library brings the buffers */
  double* own[2];  /* else these are used */
  double* edge[2]; /* the rows of this round; NULL: no neighbour there */
  MPI_Status status[2];
};

static void exchange(struct halo* halo, const double* rows, int above, int below, MPI_Comm comm) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  const int from[2] = {above, below};
  for (int side = 0; side < 2; ++side) {
    void* buffer = halo->managed ? MPIX_BUFFER_LIBRARY : halo->own[side];
    MPI_Irecv(buffer, kWidth, MPI_DOUBLE, from[side], side, comm, &requests[side]);
  }
  /* The upper neighbour receives its lower edge, and the other way round. */
  MPI_Isend(rows, kWidth, MPI_DOUBLE, above, 1, comm, &requests[2]);
  MPI_Isend(rows + (kRows - 1) * kWidth, kWidth, MPI_DOUBLE, below, 0, comm, &requests[3]);
  MPI_Waitall(4, requests, statuses);
  for (int side = 0; side < 2; ++side) {
    void* edge = from[side] == MPI_PROC_NULL ? NULL : halo->own[side];
    halo->status[side] = statuses[side];
    if (halo->managed) MPIX_Get_recv_buf(statuses[side], &edge);
    halo->edge[side] = edge;
  }
}

static void give_back(struct halo* halo) {
  for (int side = 0; halo->managed && side < 2; ++side)
    MPIX_Release_recv_buf(halo->status[side], halo->edge[side]);
}

/* The value at the border is that of the cell itself, so that nothing is lost there. */
static void relax(const struct halo* halo, const double* rows, double* next) {
  for (int y = 0; y < kRows; ++y) {
    const double* here = rows + y * kWidth;
    const double* up = y > 0 ? here - kWidth : halo->edge[0] != NULL ? halo->edge[0] : here;
    const double* down = y < kRows - 1 ? here + kWidth : halo->edge[1] != NULL ? halo->edge[1] : here;
    for (int x = 0; x < kWidth; ++x) {
      const double left = here[x > 0 ? x - 1 : x], right = here[x < kWidth - 1 ? x + 1 : x];
      next[y * kWidth + x] = (here[x] + left + right + up[x] + down[x]) / 5;
    }
  }
}

static double sum_of(const double* rows, MPI_Comm comm) {
  double sum = 0, all = 0;
  for (int i = 0; i < kRows * kWidth; ++i) sum += rows[i];
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  return all;
}

int main(int argc, char** argv) {
  int rank, size;
  struct halo halo = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  double *rows = malloc(sizeof *rows * kRows * kWidth), *next = malloc(sizeof *rows * kRows * kWidth);
  halo.managed = MPIX_HAVE_RECV_BUF();
  for (int side = 0; side < 2; ++side) halo.own[side] = halo.managed ? NULL : malloc(sizeof(double) * kWidth);
  for (int i = 0; i < kRows * kWidth; ++i) rows[i] = (i * 7 + rank * 13) % 101;
  const double before = sum_of(rows, MPI_COMM_WORLD), begin = MPI_Wtime();
  for (int round = 0; round < kRounds; ++round) {
    exchange(&halo, rows, above, below, MPI_COMM_WORLD);
    relax(&halo, rows, next);
    give_back(&halo);
    double* const swap = rows;
    rows = next;
    next = swap;
  }
  const double seconds = MPI_Wtime() - begin, after = sum_of(rows, MPI_COMM_WORLD);
  const int right = fabs(after - before) <= 1e-9 * before;
  if (rank == 0)
    printf("%d ranks, %s buffers: %d rounds in %.3f s, sum %.3f, %s\n", size,
           halo.managed ? "the library's" : "own", kRounds, seconds, after,
           right ? "as at the start" : "WRONG");
  for (int side = 0; side < 2; ++side) free(halo.own[side]);
  free(rows);
  free(next);
  MPI_Finalize();
  return right ? 0 : 1;
}
