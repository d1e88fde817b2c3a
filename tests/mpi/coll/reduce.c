/* SPDX-License-Identifier: BSD-3-Clause */
/* Every root, in place and not, commutative and not: operands in rank order (MPI-4, 6.9.1, 6.9.5). */
#include "coll.h"

static void sums(int form, int root, int count, int in_place) {
  const int me = world_rank(), size = world_size();
  int* const send = ints(count);
  int* const receive = ints(count);
  const int here = in_place && me == root;
  for (int i = 0; i < count; ++i) (here ? receive : send)[i] = value_of(me, i);
  RUN(form, Reduce, reduce, here ? MPI_IN_PLACE : send, me == root ? receive : NULL, count, MPI_INT, MPI_SUM,
      root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    if (me == root) CHECK_EQ(receive[i], size * (size - 1) / 2 * 1009 + size * (i * 31 + 1));
    if (!here) CHECK_EQ(send[i], value_of(me, i));
  }
  if (me != root && count > 0) CHECK_EQ(receive[0], -77);
  UNTOUCHED(receive, count);
  free(send);
  free(receive);
}

static void ordered(int form, int root, int count, MPI_Op op) {
  const int me = world_rank(), size = world_size();
  Affine* const send = malloc(sizeof(Affine) * (size_t)(count + 1));
  Affine* const receive = malloc(sizeof(Affine) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) send[i] = affine_of(me, i);
  RUN(form, Reduce, reduce, send, receive, count, MPI_2INT, op, root, MPI_COMM_WORLD);
  for (int i = 0; i < count && me == root; ++i) CHECK_AFFINE(receive[i], composed(0, size - 1, i));
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form)
    for (int root = 0; root < world_size(); ++root)
      for (int c = 0; c < COUNTS; ++c) {
        sums(form, root, kCounts[c], 0);
        sums(form, root, kCounts[c], 1);
        ordered(form, root, kCounts[c], op);
      }
  OK(MPI_Op_free(&op));
  return finish();
}
