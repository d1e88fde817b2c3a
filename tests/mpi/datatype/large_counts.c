/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes made with counts of type MPI_Count are those that int counts make; sizes beyond 2^31; packing
 * (MPI 5.0, 5.1, 5.2, 19.2). np: 1 needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { INTS = 40 };

/* Both types take the same ints out of a buffer, and have the same bounds. Frees both. */
static void same(MPI_Datatype a, MPI_Datatype b) {
  int data[INTS * 4], from_a[INTS * 4], from_b[INTS * 4];
  MPI_Count at_a = 0, at_b = 0, lb[2], extent[2], size[2];
  for (int i = 0; i < INTS * 4; ++i) data[i] = i, from_a[i] = from_b[i] = -1;
  OK(MPI_Type_commit(&a));
  OK(MPI_Type_commit(&b));
  OK(MPI_Pack_c(data, 1, a, from_a, sizeof from_a, &at_a, MPI_COMM_SELF));
  OK(MPI_Pack_c(data, 1, b, from_b, sizeof from_b, &at_b, MPI_COMM_SELF));
  CHECK_EQ(at_a, at_b);
  CHECK(at_a > 0);
  CHECK(memcmp(from_a, from_b, (size_t)at_a) == 0);
  OK(MPI_Type_get_extent_c(a, &lb[0], &extent[0]));
  OK(MPI_Type_get_extent_c(b, &lb[1], &extent[1]));
  CHECK_EQ(lb[0], lb[1]);
  CHECK_EQ(extent[0], extent[1]);
  OK(MPI_Type_get_true_extent_c(a, &lb[0], &extent[0]));
  OK(MPI_Type_get_true_extent_c(b, &lb[1], &extent[1]));
  CHECK_EQ(lb[0], lb[1]);
  CHECK_EQ(extent[0], extent[1]);
  OK(MPI_Type_size_c(a, &size[0]));
  OK(MPI_Type_size_c(b, &size[1]));
  CHECK_EQ(size[0], size[1]);
  OK(MPI_Type_free(&a));
  OK(MPI_Type_free(&b));
}

static void blocks(void) {
  const int lengths[3] = {2, 1, 3}, places[3] = {0, 7, 12};
  const MPI_Aint bytes[3] = {0, 28, 48};
  const MPI_Count large_lengths[3] = {2, 1, 3}, large_places[3] = {0, 7, 12}, large_bytes[3] = {0, 28, 48};
  const MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype a, b;
  OK(MPI_Type_contiguous(5, MPI_INT, &a));
  OK(MPI_Type_contiguous_c(5, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_vector(3, 2, 5, MPI_INT, &a));
  OK(MPI_Type_vector_c(3, 2, 5, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_hvector(3, 2, 24, MPI_INT, &a));
  OK(MPI_Type_create_hvector_c(3, 2, 24, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &a));
  OK(MPI_Type_indexed_c(3, large_lengths, large_places, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &a));
  OK(MPI_Type_create_hindexed_c(3, large_lengths, large_bytes, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &a));
  OK(MPI_Type_create_indexed_block_c(3, 2, large_places, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &a));
  OK(MPI_Type_create_hindexed_block_c(3, 2, large_bytes, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_struct(3, lengths, bytes, types, &a));
  OK(MPI_Type_create_struct_c(3, large_lengths, large_bytes, types, &b));
  same(a, b);
  OK(MPI_Type_create_resized(MPI_INT, -4, 16, &a));
  OK(MPI_Type_create_resized_c(MPI_INT, -4, 16, &b));
  same(a, b);
}

static void arrays(void) {
  const int sizes[2] = {6, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
  const MPI_Count large_sizes[2] = {6, 6}, large_parts[2] = {2, 3}, large_starts[2] = {1, 2};
  const int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2};
  MPI_Datatype a, b;
  OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &a));
  OK(MPI_Type_create_subarray_c(2, large_sizes, large_parts, large_starts, MPI_ORDER_C, MPI_INT, &b));
  same(a, b);
  OK(MPI_Type_create_darray(4, 1, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &a));
  OK(MPI_Type_create_darray_c(4, 1, 2, large_sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                              &b));
  same(a, b);
}

static void huge(void) {
  const MPI_Count count = (MPI_Count)3 << 31;
  MPI_Datatype type;
  MPI_Count size, lb, extent;
  int narrow;
  OK(MPI_Type_contiguous_c(count, MPI_INT, &type));
  OK(MPI_Type_size_c(type, &size));
  CHECK_EQ(size, count * (MPI_Count)sizeof(int));
  OK(MPI_Type_size_x(type, &size));
  CHECK_EQ(size, count * (MPI_Count)sizeof(int));
  OK(MPI_Type_size(type, &narrow));
  CHECK_EQ(narrow, MPI_UNDEFINED);
  OK(MPI_Type_get_extent_c(type, &lb, &extent));
  CHECK_EQ(extent, count * (MPI_Count)sizeof(int));
  OK(MPI_Type_free(&type));
}

static void packing(void) {
  int out[4] = {1, -2, 3, 4}, in[4] = {0};
  char buffer[64];
  MPI_Count size = 0, at = 0;
  OK(MPI_Pack_size_c(4, MPI_INT, MPI_COMM_SELF, &size));
  CHECK(size >= 16 && size <= 64);
  OK(MPI_Pack_c(out, 4, MPI_INT, buffer, sizeof buffer, &at, MPI_COMM_SELF));
  at = 0;
  OK(MPI_Unpack_c(buffer, sizeof buffer, &at, in, 4, MPI_INT, MPI_COMM_SELF));
  CHECK(memcmp(in, out, sizeof in) == 0);
  OK(MPI_Pack_external_size_c("external32", 4, MPI_INT, &size));
  CHECK_EQ(size, 16);
  at = 0;
  OK(MPI_Pack_external_c("external32", out, 4, MPI_INT, buffer, size, &at));
  CHECK_EQ(at, 16);
  CHECK_EQ(buffer[3], 1); /* big-endian */
  memset(in, 0, sizeof in);
  at = 0;
  OK(MPI_Unpack_external_c("external32", buffer, size, &at, in, 4, MPI_INT));
  CHECK(memcmp(in, out, sizeof in) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  blocks();
  arrays();
  huge();
  packing();
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
