/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts with unusual corners: distributed arrays tile the whole, strides and extents are negative, blocks
 * are empty, structs have holes inside vectors (MPI 5.0, 5.1.2 to 5.1.7, 5.2, 5.3). np: 1 */
#include "check.h"

#include <stddef.h>

/* The packed elements of `count` times `type` at `buffer`. */
static void* packed(const void* buffer, int count, MPI_Datatype type, int* bytes) {
  int room;
  OK(MPI_Pack_size(count, type, MPI_COMM_SELF, &room));
  void* const all = calloc(1, (size_t)room + 1);
  *bytes = 0;
  OK(MPI_Pack(buffer, count, type, all, room, bytes, MPI_COMM_SELF));
  return all;
}

typedef struct {
  int sizes[2], ways[2], arguments[2], order;
} Distribution;

/* Each element of the array belongs to one rank, and each rank has its elements in ascending order. */
static void tile(const Distribution* d, int ranks) {
  const int all = d->sizes[0] * d->sizes[1];
  int grid[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (d->ways[i] == MPI_DISTRIBUTE_NONE) grid[i] = 1;
  }
  if (grid[0] == 1 && grid[1] == 1 && ranks > 1) return;
  OK(MPI_Dims_create(ranks, 2, grid));
  int* const array = malloc(sizeof(int) * (size_t)all);
  int* const seen = calloc((size_t)all, sizeof(int));
  for (int i = 0; i < all; ++i) array[i] = i;
  for (int rank = 0; rank < ranks; ++rank) {
    MPI_Datatype type;
    MPI_Aint lower, extent;
    int bytes, previous = -1;
    OK(MPI_Type_create_darray(ranks, rank, 2, d->sizes, d->ways, d->arguments, grid, d->order, MPI_INT,
                              &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_get_extent(type, &lower, &extent));
    CHECK_EQ(lower, 0);
    CHECK_EQ(extent, all * (int)sizeof(int));
    int* const part = packed(array, 1, type, &bytes);
    for (int i = 0; i < bytes / (int)sizeof(int); ++i) {
      CHECK(part[i] > previous && part[i] < all);
      previous = part[i];
      ++seen[part[i]];
    }
    free(part);
    OK(MPI_Type_free(&type));
  }
  for (int i = 0; i < all; ++i) CHECK_EQ(seen[i], 1);
  free(array);
  free(seen);
}

static void tiles(void) {
  static const int ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  const int any = MPI_DISTRIBUTE_DFLT_DARG;
  for (int ranks = 1; ranks <= 6; ++ranks) {
    for (int way = 0; way < 9; ++way) {
      for (int fortran = 0; fortran < 2; ++fortran) {
        const int order = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        const Distribution d = {{7, 5}, {ways[way / 3], ways[way % 3]}, {any, any}, order};
        const Distribution blocks = {{11, 13}, {ways[1], ways[1]}, {2, 3}, order};
        tile(&d, ranks);
        tile(&blocks, ranks);
      }
    }
  }
}

static void check_bounds(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Aint got_lower, got_extent;
  OK(MPI_Type_get_extent(type, &got_lower, &got_extent));
  CHECK_EQ(got_lower, lower);
  CHECK_EQ(got_extent, extent);
}

static void negative(void) {
  int numbers[10], bytes;
  MPI_Datatype backwards, three;
  for (int i = 0; i < 10; ++i) numbers[i] = i;
  OK(MPI_Type_vector(5, 1, -2, MPI_INT, &backwards));
  OK(MPI_Type_commit(&backwards));
  check_bounds(backwards, -8 * (int)sizeof(int), 9 * (int)sizeof(int));
  int* part = packed(numbers + 8, 1, backwards, &bytes);
  for (int i = 0; i < 5; ++i) CHECK_EQ(part[i], 8 - 2 * i);
  free(part);
  OK(MPI_Type_free(&backwards));
  OK(MPI_Type_create_resized(MPI_INT, 0, -2 * (int)sizeof(int), &backwards));
  OK(MPI_Type_commit(&backwards));
  part = packed(numbers + 6, 3, backwards, &bytes);
  for (int i = 0; i < 3; ++i) CHECK_EQ(part[i], 6 - 2 * i);
  free(part);
  OK(MPI_Type_contiguous(3, backwards, &three));
  /* Lower bounds 0, -8, -16; upper bounds -8, -16, -24 (section 5.1.7). */
  check_bounds(three, -4 * (int)sizeof(int), 2 * (int)sizeof(int));
  OK(MPI_Type_free(&three));
  OK(MPI_Type_free(&backwards));
}

/* Blocks of no elements count neither for bounds nor for size. */
static void empty(void) {
  int lengths[3] = {0, 2, 0}, size, number = 3;
  MPI_Aint places[3] = {-100, 8, 400};
  MPI_Datatype types[3] = {MPI_DOUBLE, MPI_CHAR, MPI_INT}, type;
  OK(MPI_Type_create_struct(3, lengths, places, types, &type));
  check_bounds(type, 8, 2);
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 2);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
  OK(MPI_Type_commit(&type));
  check_bounds(type, 0, 0);
  OK(MPI_Sendrecv(&number, 5, type, 0, 0, &number, 5, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(number, 3);
  OK(MPI_Type_free(&type));
}

typedef struct {
  char a;
  double b;
  short c[3];
  int d;
} Record;

enum { RECORDS = 24, TAKEN = 16, LEAVES = 6 };

static MPI_Datatype record_type(void) {
  int lengths[4] = {1, 1, 3, 1};
  MPI_Aint places[4] = {offsetof(Record, a), offsetof(Record, b), offsetof(Record, c), offsetof(Record, d)};
  MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT}, bare, type;
  OK(MPI_Type_create_struct(4, lengths, places, types, &bare));
  OK(MPI_Type_create_resized(bare, 0, sizeof(Record), &type));
  OK(MPI_Type_free(&bare));
  OK(MPI_Type_commit(&type));
  return type;
}

/* Record k of what two vectors of 4 blocks of 2, 3 apart, take. */
static int taken(int k) { return k / 8 * 11 + k % 8 / 2 * 3 + k % 2; }

static void check_taken(const Record* got, const Record* from) {
  for (int k = 0; k < TAKEN; ++k) {
    const Record* const want = &from[taken(k)];
    CHECK_EQ(got[k].a, want->a);
    CHECK(got[k].b == want->b);
    for (int i = 0; i < 3; ++i) CHECK_EQ(got[k].c[i], want->c[i]);
    CHECK_EQ(got[k].d, want->d);
    CHECK_EQ(((const char*)&got[k])[1], 9); /* a hole */
  }
}

static void holes(void) {
  Record from[RECORDS], to[RECORDS];
  MPI_Datatype type = record_type(), some;
  MPI_Status status;
  MPI_Aint bytes, at = 0;
  int count;
  memset(from, 0, sizeof from);
  for (int i = 0; i < RECORDS; ++i) {
    from[i].a = (char)i, from[i].b = i * 1.5, from[i].d = i * 1000;
    for (int k = 0; k < 3; ++k) from[i].c[k] = (short)(i * 3 + k);
  }
  OK(MPI_Type_vector(4, 2, 3, type, &some));
  OK(MPI_Type_commit(&some));
  memset(to, 9, sizeof to);
  OK(MPI_Sendrecv(from, 2, some, 0, 0, to, TAKEN, type, 0, 0, MPI_COMM_SELF, &status));
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, TAKEN);
  OK(MPI_Get_elements(&status, type, &count));
  CHECK_EQ(count, TAKEN * LEAVES);
  check_taken(to, from);
  OK(MPI_Pack_external_size("external32", 2, some, &bytes));
  CHECK_EQ(bytes, TAKEN * (1 + 8 + 6 + 4));
  char* const external = malloc((size_t)bytes);
  OK(MPI_Pack_external("external32", from, 2, some, external, bytes, &at));
  CHECK_EQ(at, bytes);
  at = 0;
  memset(to, 9, sizeof to);
  OK(MPI_Unpack_external("external32", external, bytes, &at, to, TAKEN, type));
  CHECK_EQ(at, bytes);
  check_taken(to, from);
  free(external);
  OK(MPI_Type_free(&some));
  OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tiles();
  negative();
  empty();
  holes();
  return finish();
}
