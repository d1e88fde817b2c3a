/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1.13: a type of each constructor is taken apart and made again from what it was made
 * from; both transfer the same bytes and have the same bounds. np: 1 */
#include "check.h"

#define MOST 32
#define ROOM 4096

typedef struct {
  int ni, na, nd, combiner;
  int integers[MOST];
  MPI_Aint addresses[MOST];
  MPI_Datatype types[MOST];
} Contents;

static Contents take_apart(MPI_Datatype type) {
  Contents found;
  OK(MPI_Type_get_envelope(type, &found.ni, &found.na, &found.nd, &found.combiner));
  CHECK(found.ni <= MOST && found.na <= MOST && found.nd <= MOST);
  OK(MPI_Type_get_contents(type, found.ni, found.na, found.nd, found.integers, found.addresses, found.types));
  return found;
}

static MPI_Datatype make_darray(const int* i) {
  const int n = i[2];
  MPI_Datatype made;
  OK(MPI_Type_create_darray(i[0], i[1], n, &i[3], &i[3 + n], &i[3 + 2 * n], &i[3 + 3 * n], i[3 + 4 * n],
                            MPI_INT, &made));
  return made;
}

/* The tables of the section say which integer and which address is which argument. */
static MPI_Datatype make_again(const Contents* from) {
  const int* const i = from->integers;
  const MPI_Aint* const a = from->addresses;
  const MPI_Datatype old = from->nd > 0 ? from->types[0] : MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  switch (from->combiner) {
    case MPI_COMBINER_DUP: OK(MPI_Type_dup(old, &made)); break;
    case MPI_COMBINER_CONTIGUOUS: OK(MPI_Type_contiguous(i[0], old, &made)); break;
    case MPI_COMBINER_VECTOR: OK(MPI_Type_vector(i[0], i[1], i[2], old, &made)); break;
    case MPI_COMBINER_HVECTOR: OK(MPI_Type_create_hvector(i[0], i[1], a[0], old, &made)); break;
    case MPI_COMBINER_INDEXED: OK(MPI_Type_indexed(i[0], &i[1], &i[1 + i[0]], old, &made)); break;
    case MPI_COMBINER_HINDEXED: OK(MPI_Type_create_hindexed(i[0], &i[1], a, old, &made)); break;
    case MPI_COMBINER_INDEXED_BLOCK: OK(MPI_Type_create_indexed_block(i[0], i[1], &i[2], old, &made)); break;
    case MPI_COMBINER_HINDEXED_BLOCK: OK(MPI_Type_create_hindexed_block(i[0], i[1], a, old, &made)); break;
    case MPI_COMBINER_STRUCT: OK(MPI_Type_create_struct(i[0], &i[1], a, from->types, &made)); break;
    case MPI_COMBINER_SUBARRAY:
      OK(MPI_Type_create_subarray(i[0], &i[1], &i[1 + i[0]], &i[1 + 2 * i[0]], i[1 + 3 * i[0]], old, &made));
      break;
    case MPI_COMBINER_DARRAY: made = make_darray(i); break;
    case MPI_COMBINER_RESIZED: OK(MPI_Type_create_resized(old, a[0], a[1], &made)); break;
    default: CHECK(!"a combiner of one of the constructors below");
  }
  return made;
}

static void check_same(MPI_Datatype one, MPI_Datatype other) {
  static char memory[2 * ROOM], packed[2][ROOM];
  MPI_Datatype types[2] = {one, other};
  MPI_Aint lb[2], extent[2], true_lb[2], true_extent[2];
  int at[2] = {0, 0};
  fill(memory, sizeof memory, 1);
  for (int k = 0; k < 2; ++k) {
    OK(MPI_Type_get_extent(types[k], &lb[k], &extent[k]));
    OK(MPI_Type_get_true_extent(types[k], &true_lb[k], &true_extent[k]));
    OK(MPI_Type_commit(&types[k]));
    OK(MPI_Pack(memory + ROOM, 2, types[k], packed[k], ROOM, &at[k], MPI_COMM_SELF));
  }
  CHECK_EQ(lb[0], lb[1]);
  CHECK_EQ(extent[0], extent[1]);
  CHECK_EQ(true_lb[0], true_lb[1]);
  CHECK_EQ(true_extent[0], true_extent[1]);
  CHECK_EQ(at[0], at[1]);
  CHECK(memcmp(packed[0], packed[1], (size_t)at[0]) == 0);
}

/* Frees the type. */
static void check_type(MPI_Datatype type, int combiner) {
  Contents found = take_apart(type);
  CHECK_EQ(found.combiner, combiner);
  MPI_Datatype again = make_again(&found);
  check_same(type, again);
  for (int k = 0; k < found.nd; ++k) {
    int ni, na, nd, inner;
    OK(MPI_Type_get_envelope(found.types[k], &ni, &na, &nd, &inner));
    if (inner != MPI_COMBINER_NAMED) OK(MPI_Type_free(&found.types[k])); /* it is the caller's */
  }
  OK(MPI_Type_free(&again));
  OK(MPI_Type_free(&type));
}

static void check_blocks(MPI_Datatype old) {
  const int lengths[3] = {2, 0, 3}, at[3] = {4, -1, 9};
  const MPI_Aint bytes_at[3] = {32, -8, 72};
  const MPI_Datatype parts[3] = {MPI_INT, old, MPI_DOUBLE};
  MPI_Datatype type;
  OK(MPI_Type_indexed(3, lengths, at, old, &type));
  check_type(type, MPI_COMBINER_INDEXED);
  OK(MPI_Type_create_hindexed(3, lengths, bytes_at, old, &type));
  check_type(type, MPI_COMBINER_HINDEXED);
  OK(MPI_Type_create_indexed_block(3, 2, at, old, &type));
  check_type(type, MPI_COMBINER_INDEXED_BLOCK);
  OK(MPI_Type_create_hindexed_block(3, 2, bytes_at, old, &type));
  check_type(type, MPI_COMBINER_HINDEXED_BLOCK);
  OK(MPI_Type_create_struct(3, lengths, bytes_at, parts, &type));
  check_type(type, MPI_COMBINER_STRUCT);
  OK(MPI_Type_indexed(0, lengths, at, old, &type)); /* nothing at all */
  check_type(type, MPI_COMBINER_INDEXED);
}

static void check_regular(MPI_Datatype old) {
  MPI_Datatype type;
  OK(MPI_Type_dup(old, &type));
  check_type(type, MPI_COMBINER_DUP);
  OK(MPI_Type_contiguous(5, old, &type));
  check_type(type, MPI_COMBINER_CONTIGUOUS);
  OK(MPI_Type_vector(3, 2, -5, old, &type));
  check_type(type, MPI_COMBINER_VECTOR);
  OK(MPI_Type_create_hvector(3, 2, -51, old, &type));
  check_type(type, MPI_COMBINER_HVECTOR);
  OK(MPI_Type_create_resized(old, -4, 40, &type));
  check_type(type, MPI_COMBINER_RESIZED);
}

static void check_arrays(void) {
  const int sizes[2] = {7, 5}, parts[2] = {2, 3}, starts[2] = {1, 1}, grid[2] = {2, 2};
  const int kinds[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  const int orders[2] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
  MPI_Datatype type;
  for (int k = 0; k < 2; ++k) {
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, orders[k], MPI_INT, &type));
    check_type(type, MPI_COMBINER_SUBARRAY);
    for (int rank = 0; rank < 4; ++rank) {
      OK(MPI_Type_create_darray(4, rank, 2, sizes, kinds, arguments, grid, orders[k], MPI_INT, &type));
      check_type(type, MPI_COMBINER_DARRAY);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype derived;
  OK(MPI_Type_vector(2, 1, 3, MPI_SHORT, &derived));
  check_regular(MPI_INT);
  check_regular(derived);
  check_blocks(MPI_INT);
  check_blocks(derived);
  check_arrays();
  OK(MPI_Type_free(&derived));
  return finish();
}
