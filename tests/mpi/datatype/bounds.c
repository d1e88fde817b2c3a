/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.1.5 to 5.1.8: extents, true extents, markers that travel with a type.
 * np: 1 */
#include "check.h"

static void expect(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent) {
  MPI_Aint a, b;
  MPI_Count c, d;
  OK(MPI_Type_get_extent(type, &a, &b));
  CHECK_EQ(a, lb);
  CHECK_EQ(b, extent);
  OK(MPI_Type_get_true_extent(type, &a, &b));
  CHECK_EQ(a, true_lb);
  CHECK_EQ(b, true_extent);
  OK(MPI_Type_get_extent_x(type, &c, &d));
  CHECK_EQ(c, lb);
  CHECK_EQ(d, extent);
  OK(MPI_Type_get_true_extent_x(type, &c, &d));
  CHECK_EQ(c, true_lb);
  CHECK_EQ(d, true_extent);
}

int main(void) {
  struct padded {
    double d;
    char c;
  };
  count_t lengths[2] = {1, 1}, size;
  MPI_Aint at[2] = {0, 8};
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR}, made, wide, outer, copy, null;
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  /* A struct is padded like C's. */
  OK(MPI_Type_create_struct(2, lengths, at, types, &made));
  expect(made, 0, sizeof(struct padded), 0, 9);
  OK(MPI_Type_size(made, &size));
  CHECK_EQ(size, 9);

  /* New bounds move with every copy, negative ones too. */
  OK(MPI_Type_create_resized(made, -4, 40, &wide));
  expect(wide, -4, 40, 0, 9);
  OK(MPI_Type_contiguous(3, wide, &outer));
  expect(outer, -4, 120, 0, 89);
  OK(MPI_Type_dup(outer, &copy));
  expect(copy, -4, 120, 0, 89);
  OK(MPI_Type_free(&copy));
  OK(MPI_Type_free(&outer));
  OK(MPI_Type_vector(2, 1, -2, wide, &outer));
  expect(outer, -84, 120, -80, 89);
  OK(MPI_Type_free(&outer));

  /* No data, no extent; the old type may go first. */
  OK(MPI_Type_free(&made));
  OK(MPI_Type_contiguous(0, wide, &outer));
  expect(outer, 0, 0, 0, 0);
  OK(MPI_Type_free(&outer));
  OK(MPI_Type_free(&wide));
  CHECK(wide == MPI_DATATYPE_NULL);

  null = MPI_INT;
  CHECK_ERROR(MPI_Type_free(&null), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made), MPI_ERR_TYPE);
  MPI_Finalize();
  return 0;
}
