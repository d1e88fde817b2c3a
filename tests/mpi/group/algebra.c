/* SPDX-License-Identifier: BSD-3-Clause */
/* Group accessors and constructors, and that the order of the result is the one the standard gives
 * (MPI-4, 7.3.1, 7.3.2). */
#include "check.h"

/* The group's members as ranks in the world's group. */
static void check_members(MPI_Group group, MPI_Group world, int count, const int* wanted) {
  int size, ranks[64], worlds[64];
  OK(MPI_Group_size(group, &size));
  CHECK_EQ(size, count);
  for (int i = 0; i < size; ++i) ranks[i] = i;
  OK(MPI_Group_translate_ranks(group, size, ranks, world, worlds));
  for (int i = 0; i < size; ++i) CHECK_EQ(worlds[i], wanted[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size() > 60 ? 60 : world_size();
  MPI_Group world, even, odd, back, group;
  int wanted[64], count, rank, result;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_rank(world, &rank));
  CHECK_EQ(rank, me);

  int stride[1][3] = {{0, size - 1, 2}}, all_back[1][3] = {{size - 1, 0, -1}};
  OK(MPI_Group_range_incl(world, 1, stride, &even));
  OK(MPI_Group_range_excl(world, 1, stride, &odd));
  OK(MPI_Group_range_incl(world, 1, all_back, &back));
  count = 0;
  for (int r = 0; r < size; r += 2) wanted[count++] = r;
  check_members(even, world, count, wanted);
  OK(MPI_Group_rank(even, &rank));
  CHECK_EQ(rank, me % 2 || me >= size ? MPI_UNDEFINED : me / 2);

  if (world_size() <= 60) {
    /* union: the first group's members in their order, then the second's that are new */
    OK(MPI_Group_union(odd, back, &group));
    count = 0;
    for (int r = 1; r < size; r += 2) wanted[count++] = r;
    for (int r = size - 1; r >= 0; --r)
      if (r % 2 == 0) wanted[count++] = r;
    check_members(group, world, count, wanted);
    OK(MPI_Group_compare(group, world, &result));
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    OK(MPI_Group_free(&group));

    /* intersection and difference: the order of the first group */
    OK(MPI_Group_intersection(back, even, &group));
    count = 0;
    for (int r = size - 1; r >= 0; --r)
      if (r % 2 == 0) wanted[count++] = r;
    check_members(group, world, count, wanted);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_difference(back, even, &group));
    count = 0;
    for (int r = size - 1; r >= 0; --r)
      if (r % 2) wanted[count++] = r;
    if (count == 0) {
      OK(MPI_Group_compare(group, MPI_GROUP_EMPTY, &result));
      CHECK_EQ(result, MPI_IDENT);
    } else {
      check_members(group, world, count, wanted);
    }
    if (group != MPI_GROUP_EMPTY) OK(MPI_Group_free(&group));
  }

  /* incl in any order, excl keeps the old order */
  int some[2] = {size - 1, 0};
  const int listed = size > 1 ? 2 : 1;
  OK(MPI_Group_incl(world, listed, some, &group));
  check_members(group, world, listed, some);
  OK(MPI_Group_free(&group));
  OK(MPI_Group_incl(world, 0, NULL, &group));
  CHECK(group == MPI_GROUP_EMPTY);

  /* MPI_PROC_NULL is itself in every group */
  int from[2] = {0, MPI_PROC_NULL}, to[2];
  OK(MPI_Group_translate_ranks(world, 2, from, even, to));
  CHECK_EQ(to[0], 0);
  CHECK_EQ(to[1], MPI_PROC_NULL);
  OK(MPI_Group_compare(world, world, &result));
  CHECK_EQ(result, MPI_IDENT);
  OK(MPI_Group_free(&even));
  CHECK(even == MPI_GROUP_NULL);
  if (odd != MPI_GROUP_EMPTY) OK(MPI_Group_free(&odd));
  OK(MPI_Group_free(&back));
  OK(MPI_Group_free(&world));
  return finish();
}
