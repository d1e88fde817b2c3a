/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cart_sub: slices of a grid keep the lengths, periods and order of the dimensions that remain
 * (MPI-4, 8.5.6). */
#include "check.h"

static void check_slice(MPI_Comm grid, const int* dims, const int* periods, int bits) {
  const int kept[3] = {bits & 1, bits >> 1 & 1, bits >> 2};
  int mine[3], lengths[3], cyclic[3], at[3], ndims, rank, size, whole_rank, same, volume = 1;
  MPI_Comm slice;
  OK(MPI_Comm_rank(grid, &whole_rank));
  OK(MPI_Cart_coords(grid, whole_rank, 3, mine));
  OK(MPI_Cart_sub(grid, kept, &slice));
  OK(MPI_Topo_test(slice, &same));
  CHECK_EQ(same, MPI_CART);
  OK(MPI_Cartdim_get(slice, &ndims));
  CHECK_EQ(ndims, kept[0] + kept[1] + kept[2]);
  OK(MPI_Cart_get(slice, 3, lengths, cyclic, at));
  for (int d = 0, k = 0; d < 3; ++d) {
    if (!kept[d]) continue;
    CHECK_EQ(lengths[k], dims[d]);
    CHECK_EQ(!cyclic[k], !periods[d]);
    CHECK_EQ(at[k], mine[d]);
    volume *= dims[d];
    ++k;
  }
  OK(MPI_Comm_size(slice, &size));
  CHECK_EQ(size, volume);
  OK(MPI_Comm_rank(slice, &rank));
  if (ndims > 0) {
    int found;
    OK(MPI_Cart_rank(slice, at, &found));
    CHECK_EQ(found, rank);
  }
  /* All others in the slice differ from this process in dimensions that remain only. */
  int* const all = malloc(sizeof(int) * 3 * (size_t)size);
  OK(MPI_Allgather(mine, 3, MPI_INT, all, 3, MPI_INT, slice));
  for (int r = 0; r < size; ++r)
    for (int d = 0; d < 3; ++d)
      if (!kept[d]) CHECK_EQ(all[3 * r + d], mine[d]);
  free(all);
  if (ndims == 0) { /* a slice of what has no dimensions */
    MPI_Comm again;
    OK(MPI_Cart_sub(slice, kept, &again));
    OK(MPI_Cartdim_get(again, &ndims));
    CHECK_EQ(ndims, 0);
    OK(MPI_Comm_size(again, &size));
    CHECK_EQ(size, 1);
    OK(MPI_Comm_free(&again));
  }
  OK(MPI_Comm_free(&slice));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size(), periods[3] = {1, 0, 1};
  int dims[3] = {0, 0, 0};
  MPI_Comm grid;
  OK(MPI_Dims_create(size, 3, dims));
  OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &grid));
  for (int bits = 0; bits < 8; ++bits) check_slice(grid, dims, periods, bits);
  OK(MPI_Comm_free(&grid));
  return finish();
}
