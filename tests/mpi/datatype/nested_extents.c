/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.1 and 5.1.6: extents of types nested at any strides, held against a typemap that is
 * written out element by element. An old type brings its padding along, so a type contains the extents of all
 * that it is built of, and its own is a multiple of the strictest alignment.
 * MPICH 4.0.2 rounds structs only: hvector(3, 4, 25, MPI_INT) has 66 bytes there. np: 1 */
#include "check.h"

#define MOST 4000

/* What a type is made of, and its bounds. */
struct map {
  int entries;
  MPI_Aint at[MOST], bytes[MOST];
  MPI_Aint lb, ub, align, size;
  int any;
};

static struct map none(void) {
  struct map map;
  memset(&map, 0, sizeof map);
  map.align = 1;
  return map;
}

static struct map basic(int bytes) {
  struct map map = none();
  map.entries = map.any = 1;
  map.bytes[0] = map.size = map.ub = map.align = bytes;
  return map;
}

static void add(struct map* map, const struct map* old, MPI_Aint at) {
  CHECK(map->entries + old->entries <= MOST);
  for (int i = 0; i < old->entries; ++i) {
    map->at[map->entries] = old->at[i] + at;
    map->bytes[map->entries++] = old->bytes[i];
  }
  map->size += old->size;
  if (old->align > map->align) map->align = old->align;
  if (!old->any) return;
  if (!map->any || at + old->lb < map->lb) map->lb = at + old->lb;
  if (!map->any || at + old->ub > map->ub) map->ub = at + old->ub;
  map->any = 1;
}

static void pad(struct map* map) {
  while ((map->ub - map->lb) % map->align != 0) ++map->ub;
}

static void check(MPI_Datatype type, const struct map* map) {
  MPI_Aint lb, extent, low = 0, high = 0;
  count_t size;
  for (int i = 0; i < map->entries; ++i) {
    if (i == 0 || map->at[i] < low) low = map->at[i];
    if (i == 0 || map->at[i] + map->bytes[i] > high) high = map->at[i] + map->bytes[i];
  }
  OK(MPI_Type_get_extent(type, &lb, &extent));
  CHECK_EQ(lb, map->lb);
  CHECK_EQ(extent, map->ub - map->lb);
  OK(MPI_Type_get_true_extent(type, &lb, &extent));
  CHECK_EQ(lb, low);
  CHECK_EQ(extent, high - low);
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, map->size);
}

static unsigned long seed = 1;
static int number(int from, int to) {
  seed = (seed * 1103515245u + 12345u) & 0x7fffffff;
  return from + (int)((seed >> 8) % (unsigned)(to - from + 1));
}

/* One more level on `type`, which is freed if it was made here. */
static void wrap(MPI_Datatype* type, struct map* map, int made) {
  static const MPI_Datatype kinds[4] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  static const int bytes[4] = {1, 2, 4, 8};
  const MPI_Aint extent = map->ub - map->lb;
  const int n = number(1, 3), length = number(1, 3);
  static struct map sum, other;
  MPI_Datatype result;
  sum = none();
  switch (number(0, 3)) {
    case 0: {
      const MPI_Aint stride = number(-2, 5) * extent + number(-3, 3);
      OK(MPI_Type_create_hvector(n, length, stride, *type, &result));
      for (int i = 0; i < n * length; ++i) add(&sum, map, i / length * stride + i % length * extent);
      break;
    }
    case 1: {
      const int stride = number(-3, 4);
      OK(MPI_Type_vector(n, length, stride, *type, &result));
      for (int i = 0; i < n * length; ++i) add(&sum, map, (i / length * stride + i % length) * extent);
      break;
    }
    case 2: {
      count_t lengths[3] = {number(0, 2), number(0, 2), number(1, 2)};
      MPI_Aint at[3] = {number(-50, 50), number(0, 99), number(-9, 400)};
      OK(MPI_Type_create_hindexed(3, lengths, at, *type, &result));
      for (int i = 0; i < 3; ++i)
        for (count_t j = 0; j < lengths[i]; ++j) add(&sum, map, at[i] + j * extent);
      break;
    }
    default: {
      const int which = number(0, 3);
      count_t lengths[2] = {number(1, 2), number(0, 2)};
      MPI_Aint at[2] = {number(-7, 7), number(-20, 90)};
      MPI_Datatype types[2];
      types[0] = *type;
      types[1] = kinds[which];
      other = basic(bytes[which]);
      OK(MPI_Type_create_struct(2, lengths, at, types, &result));
      for (count_t j = 0; j < lengths[0]; ++j) add(&sum, map, at[0] + j * extent);
      for (count_t j = 0; j < lengths[1]; ++j) add(&sum, &other, at[1] + j * bytes[which]);
    }
  }
  pad(&sum);
  *map = sum;
  if (made) OK(MPI_Type_free(type));
  *type = result;
}

/* Three old types at their own extent end at 477. */
static void known_shape(void) {
  MPI_Datatype inner, outer;
  MPI_Aint lb, extent;
  OK(MPI_Type_create_hvector(3, 4, 25, MPI_INT, &inner));
  OK(MPI_Type_get_extent(inner, &lb, &extent));
  CHECK_EQ(extent, 68);
  OK(MPI_Type_create_hvector(2, 3, 4 * extent + 1, inner, &outer));
  OK(MPI_Type_get_extent(outer, &lb, &extent));
  CHECK_EQ(extent, 480);
  OK(MPI_Type_free(&inner));
  OK(MPI_Type_free(&outer));
}

/* What has no entries has no bounds either, wherever it is put. */
static void empty_parts(void) {
  MPI_Datatype nothing, type;
  count_t lengths[2] = {1, 1};
  MPI_Aint at[2] = {4, 1000}, lb, extent;
  MPI_Datatype types[2];
  OK(MPI_Type_contiguous(0, MPI_DOUBLE, &nothing));
  types[0] = MPI_CHAR;
  types[1] = nothing;
  OK(MPI_Type_create_struct(2, lengths, at, types, &type));
  OK(MPI_Type_get_extent(type, &lb, &extent));
  CHECK_EQ(lb, 4);
  CHECK_EQ(extent, 1);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&nothing));
}

int main(int argc, char** argv) {
  static const MPI_Datatype kinds[4] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  static const int bytes[4] = {1, 2, 4, 8};
  static struct map map;
  MPI_Init(&argc, &argv);
  known_shape();
  empty_parts();
  for (int round = 0; round < 2000; ++round) {
    const int which = number(0, 3), depth = number(1, 4);
    MPI_Datatype type = kinds[which];
    map = basic(bytes[which]);
    for (int level = 0; level < depth && map.entries < MOST / 9; ++level) {
      wrap(&type, &map, level > 0);
      check(type, &map);
    }
    OK(MPI_Type_free(&type));
  }
  return finish();
}
