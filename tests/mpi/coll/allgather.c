/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and MPI_Allgatherv: in place, types that differ, blocks of any size and place (MPI-4, 6.7).
 */
#include "coll.h"

static void equal(int form, int count, int in_place, MPI_Datatype type) {
  const int me = world_rank(), size = world_size();
  int* const send = ints(count);
  int* const all = ints(2L * count * size);
  for (int i = 0; i < count; ++i) {
    if (in_place)
      all[2L * (me * (long)count + i) + 1] = value_of(me, i);
    else
      send[i] = value_of(me, i);
  }
  RUN(form, Allgather, allgather, in_place ? MPI_IN_PLACE : send, count, MPI_INT, all, count, type,
      MPI_COMM_WORLD);
  for (long k = 0; k < (long)count * size; ++k) {
    CHECK_EQ(all[2 * k + 1], value_of((int)(k / count), (int)(k % count)));
    CHECK_EQ(all[2 * k], -77);
  }
  UNTOUCHED(all, 2L * count * size);
  free(send);
  free(all);
}

static void varied(int form, int count, int in_place) {
  const int me = world_rank(), size = world_size(), mine = count + me % 3;
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
  for (int i = 0; i < mine; ++i) (in_place ? all + places[me] : send)[i] = value_of(me, i);
  RUN(form, Allgatherv, allgatherv, in_place ? MPI_IN_PLACE : send, mine, MPI_INT, all, counts, places,
      MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
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
    for (int c = 0; c < COUNTS; ++c)
      for (int in_place = 0; in_place < 2; ++in_place) {
        equal(form, kCounts[c], in_place, type);
        varied(form, kCounts[c], in_place);
      }
  OK(MPI_Type_free(&type));
  return finish();
}
