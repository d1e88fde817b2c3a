/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scatter and MPI_Scatterv: every root, in place, types that differ, blocks of any size and place
 * (MPI-4, 6.6). */
#include "coll.h"

static void equal(int form, int root, int count, int in_place, MPI_Datatype type) {
  const int me = world_rank(), size = world_size(), here = in_place && me == root;
  int* const all = ints(2L * count * size);
  int* const receive = ints(count);
  for (long k = 0; k < (long)count * size && me == root; ++k)
    all[2 * k + 1] = value_of((int)(k / count), (int)(k % count));
  RUN(form, Scatter, scatter, me == root ? all : NULL, count, type, here ? MPI_IN_PLACE : receive, count,
      MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK_EQ(receive[i], here ? -77 : value_of(me, i));
  UNTOUCHED(receive, count);
  free(all);
  free(receive);
}

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
  int* const all = ints(total);
  int* const receive = ints(mine);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) all[places[r] + i] = value_of(r, i);
  RUN(form, Scatterv, scatterv, all, me == root ? counts : NULL, me == root ? places : NULL, MPI_INT,
      here ? MPI_IN_PLACE : receive, mine, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < mine; ++i) CHECK_EQ(receive[i], here ? -77 : value_of(me, i));
  UNTOUCHED(receive, mine);
  free(counts);
  free(places);
  free(all);
  free(receive);
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
