/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gather and MPI_Gatherv: every root, in place, types that differ, blocks of any size and place
 * (MPI-4, 6.5). */
#include "coll.h"

static void equal(int form, int root, int count, int in_place, MPI_Datatype type) {
  const int me = world_rank(), size = world_size(), here = in_place && me == root;
  const long total = 2L * count * size; /* the root receives into every other int */
  int* const send = ints(count);
  int* const all = ints(total);
  for (int i = 0; i < count; ++i) {
    if (here)
      all[2L * (me * (long)count + i) + 1] = value_of(me, i);
    else
      send[i] = value_of(me, i);
  }
  RUN(form, Gather, gather, here ? MPI_IN_PLACE : send, count, MPI_INT, me == root ? all : NULL, count, type,
      root, MPI_COMM_WORLD);
  for (long k = 0; k < (long)count * size && me == root; ++k) {
    CHECK_EQ(all[2 * k + 1], value_of((int)(k / count), (int)(k % count)));
    CHECK_EQ(all[2 * k], -77);
  }
  UNTOUCHED(all, total);
  free(send);
  free(all);
}

/* Rank r sends count + r % 3 numbers; the root puts the blocks in reverse order with one int between them. */
static void varied(int form, int root, int count, int in_place) {
  const int me = world_rank(), size = world_size(), here = in_place && me == root, mine = count + me % 3;
  count_t* const counts = malloc(sizeof(count_t) * (size_t)size);
  place_t* const places = malloc(sizeof(place_t) * (size_t)size);
  int total = 0;
  for (int r = size - 1; r >= 0; --r) {
    counts[r] = count + r % 3;
    places[r] = total;
    total += counts[r] + 1;
  }
  int* const send = ints(mine);
  int* const all = ints(total);
  for (int i = 0; i < mine; ++i) (here ? all + places[me] : send)[i] = value_of(me, i);
  RUN(form, Gatherv, gatherv, here ? MPI_IN_PLACE : send, mine, MPI_INT, all, me == root ? counts : NULL,
      me == root ? places : NULL, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && me == root; ++r) {
    for (int i = 0; i < counts[r]; ++i) CHECK_EQ(all[places[r] + i], value_of(r, i));
    CHECK_EQ(all[places[r] + counts[r]], -77);
  }
  free(counts);
  free(places);
  free(send);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype type = spread_int();
  for (int form = 0; form < FORMS; ++form)
    for (int root = 0; root < world_size(); ++root)
      for (int c = 0; c < COUNTS - 1; ++c)
        for (int in_place = 0; in_place < 2; ++in_place) {
          equal(form, root, kCounts[c], in_place, type);
          varied(form, root, kCounts[c], in_place);
        }
  OK(MPI_Type_free(&type));
  return finish();
}
