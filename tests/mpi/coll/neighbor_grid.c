/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on Cartesian grids: borders, and periodic dimensions in which the neighbours
 * before and behind are one process, or the caller itself. What is sent forwards arrives from behind
 * (MPI-4, 8.6, 8.7). */
#include "neighbor.h"

/* Ranks are not reordered here, so those of the grid are those of the world. */
static void run_on(int ndims, const int* dims, const int* periods, MPI_Datatype spread, int big) {
  Hood hood = {.in = 2 * ndims, .out = 2 * ndims};
  OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &hood.comm));
  if (hood.comm == MPI_COMM_NULL) return;
  for (int d = 0; d < ndims; ++d) {
    OK(MPI_Cart_shift(hood.comm, d, 1, &hood.sources[2 * d], &hood.sources[2 * d + 1]));
    hood.sent_as[2 * d] = 2 * d + 1;
    hood.sent_as[2 * d + 1] = 2 * d;
  }
  memcpy(hood.destinations, hood.sources, sizeof hood.sources);
  exchange_all(&hood, spread, big);
  OK(MPI_Comm_free(&hood.comm));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size();
  MPI_Datatype spread = spread_int();
  for (int bits = 0; bits < 8; ++bits) {
    const int periods[] = {bits & 1, bits >> 1 & 1, bits >> 2};
    const int line[] = {size, 1, 1}, halves[] = {1, 2, size / 2};
    int square[] = {0, 0};
    if (bits < 2) run_on(1, line, periods, spread, 1);
    if (bits < 4) {
      OK(MPI_Dims_create(size, 2, square));
      run_on(2, square, periods, spread, bits == 3);
    }
    run_on(3, line, periods, spread, 0);
    if (size >= 2) run_on(3, halves, periods, spread, bits == 7);
  }
  run_on(0, NULL, NULL, spread, 0);
  OK(MPI_Type_free(&spread));
  return finish();
}
