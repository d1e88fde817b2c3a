/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: in place, empty blocks, types that differ (MPI-4, 6.8). */
#include "coll.h"

/* What `from` sends to `to`. */
static int cell(int from, int to, int index) { return value_of(from * 64 + to, index); }

static void equal(int form, int count, int in_place) {
  const int me = world_rank(), size = world_size();
  const long total = (long)count * size;
  int* const send = ints(total);
  int* const receive = ints(total);
  for (long k = 0; k < total; ++k)
    (in_place ? receive : send)[k] = cell(me, (int)(k / count), (int)(k % count));
  RUN(form, Alltoall, alltoall, in_place ? MPI_IN_PLACE : send, count, MPI_INT, receive, count, MPI_INT,
      MPI_COMM_WORLD);
  for (long k = 0; k < total; ++k) CHECK_EQ(receive[k], cell((int)(k / count), me, (int)(k % count)));
  UNTOUCHED(receive, total);
  free(send);
  free(receive);
}

/* Rank i and rank j exchange count + (i + j) % 3 numbers, so that in place is possible; blocks lie in reverse
 * order. */
static void varied(int form, int count, int in_place) {
  const int me = world_rank(), size = world_size();
  count_t* const counts = malloc(sizeof(count_t) * (size_t)size);
  place_t* const places = malloc(sizeof(place_t) * (size_t)size);
  int total = 0;
  for (int r = size - 1; r >= 0; --r) {
    counts[r] = count + (me + r) % 3;
    places[r] = total;
    total += counts[r] + 1;
  }
  int* const send = ints(total);
  int* const receive = ints(total);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) (in_place ? receive : send)[places[r] + i] = cell(me, r, i);
  RUN(form, Alltoallv, alltoallv, in_place ? MPI_IN_PLACE : send, counts, places, MPI_INT, receive, counts,
      places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[r]; ++i) CHECK_EQ(receive[places[r] + i], cell(r, me, i));
    CHECK_EQ(receive[places[r] + counts[r]], -77);
  }
  free(counts);
  free(places);
  free(send);
  free(receive);
}

/* Sent without holes; received with holes from odd ranks. Displacements are bytes. */
static void typed(int form, int count, MPI_Datatype type) {
  const int me = world_rank(), size = world_size();
  count_t* const counts = malloc(sizeof(count_t) * (size_t)size);
  place_t* const from = malloc(sizeof(place_t) * (size_t)size);
  place_t* const to = malloc(sizeof(place_t) * (size_t)size);
  MPI_Datatype* const sent = malloc(sizeof(MPI_Datatype) * (size_t)size);
  MPI_Datatype* const received = malloc(sizeof(MPI_Datatype) * (size_t)size);
  int* const send = ints((long)count * size);
  int* const receive = ints(2L * count * size);
  for (int r = 0; r < size; ++r) {
    counts[r] = count;
    from[r] = 4 * count * r;
    to[r] = 8 * count * (size - 1 - r);
    sent[r] = MPI_INT;
    received[r] = r % 2 != 0 ? type : MPI_INT;
    for (int i = 0; i < count; ++i) send[r * count + i] = cell(me, r, i);
  }
  RUN(form, Alltoallw, alltoallw, send, counts, from, sent, receive, counts, to, received, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    const int step = r % 2 != 0 ? 2 : 1;
    for (int i = 0; i < count; ++i) CHECK_EQ(receive[to[r] / 4 + step * i + step - 1], cell(r, me, i));
  }
  free(counts);
  free(from);
  free(to);
  free(sent);
  free(received);
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype type = spread_int();
  for (int form = 0; form < FORMS; ++form)
    for (int c = 0; c < COUNTS; ++c) {
      const int count = kCounts[c] > 20000 ? 20000 : kCounts[c];
      for (int in_place = 0; in_place < 2; ++in_place) {
        equal(form, count, in_place);
        varied(form, count, in_place);
      }
      typed(form, count, type);
    }
  OK(MPI_Type_free(&type));
  return finish();
}
