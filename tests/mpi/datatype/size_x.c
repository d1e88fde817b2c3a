/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.1.5 and 5.1.7: sizes and extents beyond an int through MPI_Count; MPI_Type_size gives
 * MPI_UNDEFINED for them. np: 1 */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Datatype row, table;
  MPI_Count size = -1, lb = -1, extent = -1;
  int narrow = 0;
  MPI_Init(&argc, &argv);
  OK(MPI_Type_size_x(MPI_DOUBLE, &size));
  CHECK_EQ(size, 8);
  OK(MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &row));
  OK(MPI_Type_vector(1 << 10, 1, 2, row, &table));
  OK(MPI_Type_size_x(table, &size));
  CHECK_EQ(size, (MPI_Count)1 << 33);
  OK(MPI_Type_size(table, &narrow));
  CHECK_EQ(narrow, MPI_UNDEFINED);
  OK(MPI_Type_get_extent_x(table, &lb, &extent));
  CHECK_EQ(lb, 0);
  CHECK_EQ(extent, ((MPI_Count)(1 << 11) - 1) << 23);
  OK(MPI_Type_get_true_extent_x(table, &lb, &extent));
  CHECK_EQ(lb, 0);
  CHECK_EQ(extent, ((MPI_Count)(1 << 11) - 1) << 23);
  OK(MPI_Type_free(&table));
  OK(MPI_Type_free(&row));
  return finish();
}
