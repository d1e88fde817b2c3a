/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.3.2: MPI_Group_excl and MPI_Group_range_excl leave out what is named and keep the order;
 * each rank has to exist. */
#include "check.h"

static void check_order(MPI_Group part, MPI_Group all, int without) {
  int size, at, rank, expected = 0;
  OK(MPI_Group_size(part, &size));
  CHECK_EQ(size, world_size() - 1);
  for (at = 0; at < size; ++at) {
    OK(MPI_Group_translate_ranks(part, 1, &at, all, &rank));
    if (expected == without) ++expected;
    CHECK_EQ(rank, expected++);
  }
  OK(MPI_Group_rank(part, &rank));
  CHECK_EQ(rank, world_rank() == without ? MPI_UNDEFINED : world_rank() - (world_rank() > without));
}

static void leaves_out(MPI_Group all) {
  MPI_Group part;
  int result = -1;
  for (int without = 0; without < world_size(); ++without) {
    OK(MPI_Group_excl(all, 1, &without, &part));
    check_order(part, all, without);
    if (part != MPI_GROUP_EMPTY) OK(MPI_Group_free(&part));
  }
  OK(MPI_Group_excl(all, 0, NULL, &part)); /* nothing: the same group */
  OK(MPI_Group_compare(part, all, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Group_free(&part));
  CHECK(part == MPI_GROUP_NULL);
}

static void everybody(MPI_Group all) {
  int range[1][3] = {{world_size() - 1, 0, -1}}, ranks[64];
  MPI_Group part;
  OK(MPI_Group_range_excl(all, 1, range, &part));
  CHECK(part == MPI_GROUP_EMPTY);
  if (world_size() > 64) return;
  for (int i = 0; i < world_size(); ++i) ranks[i] = i;
  OK(MPI_Group_excl(all, world_size(), ranks, &part));
  CHECK(part == MPI_GROUP_EMPTY);
}

static void errors(MPI_Group all) {
  int beyond = world_size(), negative = -1, null = MPI_PROC_NULL;
  int no_stride[1][3] = {{0, 0, 0}}, outside[1][3] = {{0, world_size(), 1}};
  MPI_Group part;
  CHECK_ERROR(MPI_Group_excl(all, 1, &beyond, &part), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Group_excl(all, 1, &negative, &part), MPI_ERR_RANK);
  CHECK_ERROR(MPI_Group_excl(all, 1, &null, &part), MPI_ERR_RANK);
  CHECK(MPI_Group_range_excl(all, 1, no_stride, &part) != MPI_SUCCESS);
  CHECK(MPI_Group_range_excl(all, 1, outside, &part) != MPI_SUCCESS);
  CHECK_ERROR(MPI_Group_excl(MPI_GROUP_NULL, 0, NULL, &part), MPI_ERR_GROUP);
}

int main(int argc, char** argv) {
  MPI_Group all;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  leaves_out(all);
  everybody(all);
  errors(all);
  OK(MPI_Group_free(&all));
  return finish();
}
