/* SPDX-License-Identifier: BSD-3-Clause */
/* Every constructor of derived datatypes, held against the elements that it should pick (MPI 5.0, 5.1). */
#include "check.h"

enum { kLength = 64 };

static int field[kLength];

/* The type picks these elements of field, in this order; then it is freed. */
static void expect(MPI_Datatype type, const int* wanted, int count) {
  int picked[kLength];
  count_t position = 0, size;
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, count * (int)sizeof(int));
  OK(MPI_Pack(field, 1, type, picked, sizeof picked, &position, MPI_COMM_SELF));
  CHECK_EQ(position, size);
  for (int i = 0; i < count; ++i) CHECK_EQ(picked[i], wanted[i]);
  OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
}

static void blocks(void) {
  MPI_Datatype type, pair;
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  expect(type, (const int[]){0, 1, 2}, 3);
  OK(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
  expect(type, (const int[]){0, 1, 5, 6, 10, 11}, 6);
  OK(MPI_Type_create_hvector(2, 2, 7 * (int)sizeof(int), MPI_INT, &type));
  expect(type, (const int[]){0, 1, 7, 8}, 4);
  /* Strides and displacements of the first kind count extents, those of the second bytes. */
  OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  OK(MPI_Type_vector(2, 1, 3, pair, &type));
  expect(type, (const int[]){0, 1, 6, 7}, 4);
  OK(MPI_Type_create_hvector(2, 1, 3 * (int)sizeof(int), pair, &type));
  expect(type, (const int[]){0, 1, 3, 4}, 4);
  OK(MPI_Type_free(&pair));
}

static void indexed(void) {
  const count_t lengths[3] = {2, 0, 1}, places[3] = {4, 9, 1};
  const MPI_Aint bytes[3] = {16, 36, 4};
  MPI_Datatype type;
  OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
  expect(type, (const int[]){4, 5, 1}, 3);
  OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type));
  expect(type, (const int[]){4, 5, 1}, 3);
  OK(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type));
  expect(type, (const int[]){4, 5, 9, 10, 1, 2}, 6);
  OK(MPI_Type_create_hindexed_block(3, 1, bytes, MPI_INT, &type));
  expect(type, (const int[]){4, 9, 1}, 3);
}

/* True bounds are those of the data, the others may be set (section 5.1.8). */
static void bounds(void) {
#ifdef MPI_TEST_LARGE
  MPI_Count lower, extent;
#else
  MPI_Aint lower, extent;
#endif
  const count_t places[2] = {3, 5};
  MPI_Datatype type, wide;
  OK(MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type));
  OK(MPI_Type_get_extent(type, &lower, &extent));
  CHECK_EQ(lower, 12);
  CHECK_EQ(extent, 12);
  OK(MPI_Type_create_resized(type, 0, 40, &wide));
  OK(MPI_Type_get_extent(wide, &lower, &extent));
  CHECK_EQ(lower, 0);
  CHECK_EQ(extent, 40);
  OK(MPI_Type_get_true_extent(wide, &lower, &extent));
  CHECK_EQ(lower, 12);
  CHECK_EQ(extent, 12);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_contiguous(2, wide, &type));
  OK(MPI_Type_free(&wide)); /* what was made of it stays */
  expect(type, (const int[]){3, 5, 13, 15}, 4);
}

int main(void) {
  OK(MPI_Init(NULL, NULL));
  for (int i = 0; i < kLength; ++i) field[i] = i;
  blocks();
  indexed();
  bounds();
  return finish();
}
