/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: the dimensions multiply to the number of nodes, those that were given stay, the others do
 * not increase (MPI-4, 8.5.2). */
#include "check.h"

static void check(int nodes, int ndims, const int* given) {
  int dims[8], last = nodes;
  long long product = 1;
  memcpy(dims, given, sizeof(int) * (size_t)ndims);
  OK(MPI_Dims_create(nodes, ndims, dims));
  for (int d = 0; d < ndims; ++d) {
    product *= dims[d];
    if (given[d] != 0) {
      CHECK_EQ(dims[d], given[d]);
      continue;
    }
    CHECK(dims[d] >= 1);
    CHECK(dims[d] <= last);
    last = dims[d];
  }
  CHECK_EQ(product, nodes);
}

static void expect(int nodes, int a, int b, int c, int x, int y, int z, int ndims) {
  int dims[] = {a, b, c};
  const int want[] = {x, y, z};
  OK(MPI_Dims_create(nodes, ndims, dims));
  for (int d = 0; d < ndims; ++d) CHECK_EQ(dims[d], want[d]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const int large[] = {2147483647, 2147483646, 1 << 30, 1396755360, 2147117569, 1000000007, 735134400};
  for (int ndims = 1; ndims <= 6; ++ndims)
    for (int nodes = 1; nodes <= 300; ++nodes) {
      const int none[8] = {0};
      check(nodes, ndims, none);
      if (ndims < 3) continue;
      for (int fixed = 1; fixed <= nodes; ++fixed) {
        const int given[8] = {0, fixed, 0};
        if (nodes % fixed == 0) check(nodes, ndims, given);
      }
    }
  for (size_t k = 0; k < sizeof large / sizeof *large; ++k)
    for (int ndims = 1; ndims <= 5; ++ndims) {
      const int none[8] = {0};
      check(large[k], ndims, none);
    }
  expect(6, 0, 0, 0, 3, 2, 0, 2); /* the examples of the standard */
  expect(7, 0, 0, 0, 7, 1, 0, 2);
  expect(6, 0, 3, 0, 2, 3, 1, 3);
  expect(12, 2, 3, 2, 2, 3, 2, 3);
  OK(MPI_Dims_create(1, 0, NULL));
  return finish();
}
