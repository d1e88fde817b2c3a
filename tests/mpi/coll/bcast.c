/* SPDX-License-Identifier: BSD-3-Clause */
/* Every root, many sizes, datatypes that differ between root and others but have one signature (MPI-4, 6.4).
 */
#include "coll.h"

static void plain(int form, int root, int count) {
  int* const data = ints(count);
  if (world_rank() == root)
    for (int i = 0; i < count; ++i) data[i] = value_of(root, i);
  RUN(form, Bcast, bcast, data, count, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK_EQ(data[i], value_of(root, i));
  UNTOUCHED(data, count);
  free(data);
}

/* Odd ranks have holes between the numbers, even ones have not. */
static void spread(int form, int root, int count, MPI_Datatype type) {
  const int holes = world_rank() % 2, step = holes ? 2 : 1;
  int* const data = ints(2L * count);
  if (world_rank() == root)
    for (int i = 0; i < count; ++i) data[step * i + holes] = value_of(root, i);
  RUN(form, Bcast, bcast, data, count, holes ? type : MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    CHECK_EQ(data[step * i + holes], value_of(root, i));
    if (holes) CHECK_EQ(data[2 * i], -77);
  }
  UNTOUCHED(data, 2L * count);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype type = spread_int();
  for (int form = 0; form < FORMS; ++form)
    for (int root = 0; root < world_size(); ++root)
      for (int c = 0; c < COUNTS; ++c) {
        plain(form, root, kCounts[c]);
        spread(form, root, kCounts[c], type);
      }
  OK(MPI_Type_free(&type));
  return finish();
}
