/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.1.2 and 5.1.13: blocks of any lengths at places in bytes (hindexed), blocks of one
 * length at places in elements (indexed_block) and in bytes (hindexed_block). np: 1 */
#include "check.h"

/* Packing `type` from the whole numbers 0, 1, 2, ... gives the wanted ones, in the wanted order. */
static void check_picks(MPI_Datatype type, int count, const int* wanted) {
  int from[16], picked[16], position = 0, size = -1, i;
  for (i = 0; i < 16; ++i) from[i] = i;
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, count * (int)sizeof(int));
  OK(MPI_Type_commit(&type));
  OK(MPI_Pack(from, 1, type, picked, sizeof picked, &position, MPI_COMM_SELF));
  CHECK_EQ(position, count * (int)sizeof(int));
  for (i = 0; i < count; ++i) CHECK_EQ(picked[i], wanted[i]);
}

static void check_bounds(MPI_Datatype type, MPI_Aint want_lb, MPI_Aint want_extent) {
  MPI_Aint lb, extent;
  OK(MPI_Type_get_extent(type, &lb, &extent));
  CHECK_EQ(lb, want_lb);
  CHECK_EQ(extent, want_extent);
}

static void check_envelope(MPI_Datatype type, int want_ints, int want_addresses, int want) {
  int ints, addresses, types, combiner;
  OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
  CHECK_EQ(ints, want_ints);
  CHECK_EQ(addresses, want_addresses);
  CHECK_EQ(types, 1);
  CHECK_EQ(combiner, want);
}

static void hindexed(void) {
  const MPI_Aint word = sizeof(int), places[3] = {9 * word, 2 * word, 5 * word};
  const int lengths[3] = {2, 1, 0}, wanted[3] = {9, 10, 2};
  int integers[4];
  MPI_Aint addresses[3];
  MPI_Datatype type, old;
  OK(MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &type));
  check_picks(type, 3, wanted);
  check_bounds(type, 2 * word, 9 * word); /* the empty block has no bounds */
  check_envelope(type, 4, 3, MPI_COMBINER_HINDEXED);
  OK(MPI_Type_get_contents(type, 4, 3, 1, integers, addresses, &old));
  CHECK_EQ(integers[0], 3);
  CHECK_EQ(integers[1], 2);
  CHECK_EQ(integers[3], 0);
  CHECK_EQ(addresses[0], 9 * word);
  CHECK_EQ(addresses[2], 5 * word);
  CHECK(old == MPI_INT);
  OK(MPI_Type_free(&type));
}

static void indexed_block(void) {
  const int places[3] = {10, 0, 4}, wanted[6] = {10, 11, 0, 1, 4, 5};
  int integers[5];
  MPI_Datatype type, old;
  OK(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type));
  check_picks(type, 6, wanted);
  check_bounds(type, 0, 12 * (MPI_Aint)sizeof(int));
  check_envelope(type, 5, 0, MPI_COMBINER_INDEXED_BLOCK);
  OK(MPI_Type_get_contents(type, 5, 0, 1, integers, NULL, &old));
  CHECK_EQ(integers[0], 3);
  CHECK_EQ(integers[1], 2);
  CHECK_EQ(integers[2], 10);
  CHECK_EQ(integers[4], 4);
  OK(MPI_Type_free(&type));
}

static void hindexed_block(void) {
  const MPI_Aint word = sizeof(int), places[2] = {7 * word, 3 * word};
  const int wanted[4] = {7, 8, 3, 4};
  int integers[2];
  MPI_Aint addresses[2];
  MPI_Datatype type, old;
  OK(MPI_Type_create_hindexed_block(2, 2, places, MPI_INT, &type));
  check_picks(type, 4, wanted);
  check_bounds(type, 3 * word, 6 * word);
  check_envelope(type, 2, 2, MPI_COMBINER_HINDEXED_BLOCK);
  OK(MPI_Type_get_contents(type, 2, 2, 1, integers, addresses, &old));
  CHECK_EQ(integers[0], 2);
  CHECK_EQ(integers[1], 2);
  CHECK_EQ(addresses[0], 7 * word);
  OK(MPI_Type_free(&type));
}

/* No blocks, and blocks of no elements: types of no size that can be used. */
static void nothing(void) {
  const int place = 3;
  const MPI_Aint far_away = 1 << 20;
  MPI_Datatype type;
  OK(MPI_Type_create_indexed_block(0, 5, NULL, MPI_INT, &type));
  check_picks(type, 0, NULL);
  check_bounds(type, 0, 0);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_create_indexed_block(1, 0, &place, MPI_INT, &type));
  check_picks(type, 0, NULL);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_create_hindexed_block(1, 0, &far_away, MPI_INT, &type));
  check_picks(type, 0, NULL);
  OK(MPI_Type_free(&type));
}

static void errors(void) {
  const int place = 0, negative = -1;
  const MPI_Aint address = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Type_create_indexed_block(-1, 1, &place, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Type_create_hindexed_block(1, 1, &address, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  CHECK(MPI_Type_create_indexed_block(1, -1, &place, MPI_INT, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_hindexed(1, &negative, &address, MPI_INT, &type) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  hindexed();
  indexed_block();
  hindexed_block();
  nothing();
  errors();
  return finish();
}
