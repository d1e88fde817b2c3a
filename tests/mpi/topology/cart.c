/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian communicators: row-major ranks, coordinates that wrap in periodic dimensions, shifts, processes
 * that are left out, grids of no dimensions (MPI-4, 8.5). */
#include "check.h"

typedef struct {
  int ndims, dims[4], periods[4], nodes;
} Shape;

/* The rank at these coordinates, worked out another way than by strides; MPI_PROC_NULL outside. */
static int rank_at(const Shape* s, const int* coords) {
  int rank = 0;
  for (int d = 0; d < s->ndims; ++d) {
    int at = coords[d];
    while (s->periods[d] && at < 0) at += s->dims[d];
    while (s->periods[d] && at >= s->dims[d]) at -= s->dims[d];
    if (at < 0 || at >= s->dims[d]) return MPI_PROC_NULL;
    rank = rank * s->dims[d] + at;
  }
  return rank;
}

static void check_ranks(const Shape* s, MPI_Comm grid) {
  int coords[4], got;
  for (int rank = 0; rank < s->nodes; ++rank) {
    OK(MPI_Cart_coords(grid, rank, 4, coords));
    CHECK_EQ(rank_at(s, coords), rank);
    for (int d = 0; d < s->ndims; ++d) CHECK(coords[d] >= 0 && coords[d] < s->dims[d]);
    OK(MPI_Cart_rank(grid, coords, &got));
    CHECK_EQ(got, rank);
    for (int d = 0; d < s->ndims; ++d) { /* far outside, where that wraps */
      if (!s->periods[d]) continue;
      for (int turns = -3; turns <= 3; ++turns) {
        coords[d] += turns * s->dims[d];
        OK(MPI_Cart_rank(grid, coords, &got));
        CHECK_EQ(got, rank);
        coords[d] -= turns * s->dims[d];
      }
    }
  }
}

static void check_shifts(const Shape* s, MPI_Comm grid) {
  int coords[4], rank, source, destination;
  OK(MPI_Comm_rank(grid, &rank));
  for (int d = 0; d < s->ndims; ++d)
    for (int by = -9; by <= 9; ++by) {
      OK(MPI_Cart_shift(grid, d, by, &source, &destination));
      OK(MPI_Cart_coords(grid, rank, s->ndims, coords));
      coords[d] += by;
      CHECK_EQ(destination, rank_at(s, coords));
      coords[d] -= 2 * by;
      CHECK_EQ(source, rank_at(s, coords));
    }
}

/* What is sent along a shift arrives from where the receiver's shift says. */
static void check_messages(const Shape* s, MPI_Comm grid) {
  int rank, source, destination;
  OK(MPI_Comm_rank(grid, &rank));
  for (int d = 0; d < s->ndims; ++d) {
    int got = MPI_PROC_NULL;
    OK(MPI_Cart_shift(grid, d, 1, &source, &destination));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, destination, 4, &got, 1, MPI_INT, source, 4, grid, MPI_STATUS_IGNORE));
    CHECK_EQ(got, source);
  }
}

static void check_shape(const Shape* s) {
  MPI_Comm grid;
  int status, ndims, dims[4], periods[4], coords[4], rank, size;
  const int inside = world_rank() < s->nodes;
  OK(MPI_Cart_create(MPI_COMM_WORLD, s->ndims, s->dims, s->periods, 0, &grid));
  CHECK_EQ(grid != MPI_COMM_NULL, inside);
  if (!inside) return;
  OK(MPI_Comm_size(grid, &size));
  OK(MPI_Comm_rank(grid, &rank));
  CHECK_EQ(size, s->nodes);
  CHECK_EQ(rank, world_rank()); /* no reordering was asked for */
  OK(MPI_Topo_test(grid, &status));
  CHECK_EQ(status, MPI_CART);
  OK(MPI_Cartdim_get(grid, &ndims));
  CHECK_EQ(ndims, s->ndims);
  OK(MPI_Cart_get(grid, 4, dims, periods, coords));
  for (int d = 0; d < ndims; ++d) {
    CHECK_EQ(dims[d], s->dims[d]);
    CHECK_EQ(!periods[d], !s->periods[d]);
  }
  CHECK_EQ(rank_at(s, coords), rank);
  check_ranks(s, grid);
  check_shifts(s, grid);
  check_messages(s, grid);
  OK(MPI_Comm_free(&grid));
}

/* One process, no coordinates, nothing written. */
static void check_no_dimensions(void) {
  MPI_Comm grid;
  int status, size, ndims = -5, rank = -5, untouched[3] = {-5, -5, -5};
  OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
  CHECK_EQ(grid != MPI_COMM_NULL, world_rank() == 0);
  if (grid == MPI_COMM_NULL) return;
  OK(MPI_Comm_size(grid, &size));
  CHECK_EQ(size, 1);
  OK(MPI_Topo_test(grid, &status));
  CHECK_EQ(status, MPI_CART);
  OK(MPI_Cartdim_get(grid, &ndims));
  CHECK_EQ(ndims, 0);
  OK(MPI_Cart_get(grid, 1, &untouched[0], &untouched[1], &untouched[2]));
  OK(MPI_Cart_coords(grid, 0, 1, &untouched[0]));
  for (int k = 0; k < 3; ++k) CHECK_EQ(untouched[k], -5);
  OK(MPI_Cart_rank(grid, untouched, &rank));
  CHECK_EQ(rank, 0);
  OK(MPI_Comm_free(&grid));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = world_size();
  for (int bits = 0; bits < 8; ++bits) {
    const int x = bits & 1, y = bits >> 1 & 1, z = bits >> 2;
    const Shape shapes[] = {{1, {size}, {x}, size},
                            {3, {1, size, 1}, {x, y, z}, size},
                            {2, {2, size / 2}, {x, y}, size / 2 * 2},
                            {3, {size / 4, 2, 2}, {x, y, z}, size / 4 * 4},
                            {2, {1, 1}, {x, y}, 1}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k)
      if (shapes[k].nodes > 0) check_shape(&shapes[k]);
  }
  check_no_dimensions();
  return finish();
}
