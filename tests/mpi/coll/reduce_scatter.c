/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter and MPI_Reduce_scatter_block: in rank order, in place, empty blocks (MPI-4, 6.10). */
#include "coll.h"

/* Block r has count + r % 3 elements (varied) or count. */
static void check(int form, int count, MPI_Op op, int in_place, int varied) {
  const int me = world_rank(), size = world_size();
  count_t* const counts = malloc(sizeof(count_t) * (size_t)size);
  int total = 0, offset = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = count + (varied ? r % 3 : 0);
    if (r < me) offset += counts[r];
    total += counts[r];
  }
  Affine* const send = malloc(sizeof(Affine) * (size_t)(total + 1));
  Affine* const receive = malloc(sizeof(Affine) * (size_t)(total + 1));
  for (int i = 0; i < total; ++i) (in_place ? receive : send)[i] = affine_of(me, i);
  const void* const from = in_place ? MPI_IN_PLACE : (void*)send;
  if (varied)
    RUN(form, Reduce_scatter, reduce_scatter, from, receive, counts, MPI_2INT, op, MPI_COMM_WORLD);
  else
    RUN(form, Reduce_scatter_block, reduce_scatter_block, from, receive, count, MPI_2INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < counts[me]; ++i) CHECK_AFFINE(receive[i], composed(0, size - 1, offset + i));
  free(counts);
  free(send);
  free(receive);
}

static void sums(int form, int count, int in_place) {
  const int me = world_rank(), size = world_size();
  const long total = (long)count * size;
  int* const send = ints(total);
  int* const receive = ints(in_place ? total : count);
  for (long i = 0; i < total; ++i) (in_place ? receive : send)[i] = value_of(me, (int)i);
  RUN(form, Reduce_scatter_block, reduce_scatter_block, in_place ? MPI_IN_PLACE : send, receive, count,
      MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    CHECK_EQ(receive[i], size * (size - 1) / 2 * 1009 + size * ((me * count + i) * 31 + 1));
  if (!in_place) UNTOUCHED(receive, count);
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form)
    for (int c = 0; c < COUNTS - 1; ++c) {
      for (int k = 0; k < 4; ++k) check(form, kCounts[c], op, k % 2, k / 2);
      sums(form, kCounts[c], 0);
      sums(form, kCounts[c], 1);
    }
  OK(MPI_Op_free(&op));
  return finish();
}
