/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1: a block of no elements puts nothing into the typemap and has no effect on the bounds,
 * wherever it stands; MPI_Type_get_contents still tells it. np: 1 */
#include "check.h"

#include <limits.h>
#include <stdint.h>

static const MPI_Aint far_places[4] = {INTPTR_MAX, INTPTR_MIN, INTPTR_MAX - 3, (MPI_Aint)1 << 62};

static void expect(MPI_Datatype* type, MPI_Aint lb, MPI_Aint extent, int size) {
  MPI_Aint a, b;
  int bytes;
  OK(MPI_Type_get_extent(*type, &a, &b));
  CHECK_EQ(a, lb);
  CHECK_EQ(b, extent);
  OK(MPI_Type_get_true_extent(*type, &a, &b));
  CHECK_EQ(a, lb);
  CHECK_EQ(b, extent);
  OK(MPI_Type_size(*type, &bytes));
  CHECK_EQ(bytes, size);
  OK(MPI_Type_commit(type));
  OK(MPI_Type_free(type));
}

static void in_structs(MPI_Aint far_place) {
  int lengths[2] = {2, 0}, integers[3];
  MPI_Aint at[2], addresses[2];
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type, old[2];
  at[0] = 8;
  at[1] = far_place;
  OK(MPI_Type_create_struct(2, lengths, at, types, &type));
  OK(MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, old));
  CHECK_EQ(addresses[1], far_place);
  expect(&type, 8, 8, 8);
  OK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type));
  expect(&type, 8, 8, 8);
  OK(MPI_Type_create_hvector(3, 0, far_place, MPI_INT, &type));
  expect(&type, 0, 0, 0);
  OK(MPI_Type_create_hindexed_block(2, 0, at, MPI_INT, &type));
  expect(&type, 0, 0, 0);
}

/* Places in units of an extent, where the product leaves 64 bits. */
static void in_units(void) {
  int lengths[2] = {1, 0}, at[2] = {1, INT_MAX};
  MPI_Datatype wide, type;
  OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 50, &wide));
  OK(MPI_Type_vector(2, 0, INT_MAX, wide, &type));
  expect(&type, 0, 0, 0);
  OK(MPI_Type_create_indexed_block(2, 0, at, wide, &type));
  expect(&type, 0, 0, 0);
  at[0] = 0;
  OK(MPI_Type_indexed(2, lengths, at, wide, &type));
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&wide));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 4; ++i) in_structs(far_places[i]);
  in_units();
  return finish();
}
