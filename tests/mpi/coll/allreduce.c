/* SPDX-License-Identifier: BSD-3-Clause */
/* In place and not, commutative and not, and the same bits on all processes (MPI-4, 6.9.6). */
#include "coll.h"

static void sums(int form, int count, int in_place) {
  const int me = world_rank(), size = world_size();
  int* const send = ints(count);
  int* const receive = ints(count);
  for (int i = 0; i < count; ++i) (in_place ? receive : send)[i] = value_of(me, i);
  RUN(form, Allreduce, allreduce, in_place ? MPI_IN_PLACE : send, receive, count, MPI_INT, MPI_SUM,
      MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    CHECK_EQ(receive[i], size * (size - 1) / 2 * 1009 + size * (i * 31 + 1));
    if (!in_place) CHECK_EQ(send[i], value_of(me, i));
  }
  UNTOUCHED(receive, count);
  free(send);
  free(receive);
}

static void ordered(int form, int count, MPI_Op op, int in_place) {
  const int me = world_rank(), size = world_size();
  Affine* const send = malloc(sizeof(Affine) * (size_t)(count + 1));
  Affine* const receive = malloc(sizeof(Affine) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) (in_place ? receive : send)[i] = affine_of(me, i);
  RUN(form, Allreduce, allreduce, in_place ? MPI_IN_PLACE : (void*)send, receive, count, MPI_2INT, op,
      MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK_AFFINE(receive[i], composed(0, size - 1, i));
  free(send);
  free(receive);
}

/* Sums of numbers of very different size depend on the order of the additions. */
static void same_bits(int count) {
  const int me = world_rank();
  double* const send = malloc(sizeof(double) * (size_t)(count + 1));
  double* const receive = malloc(sizeof(double) * (size_t)(count + 1));
  double* const of_root = malloc(sizeof(double) * (size_t)(count + 1));
  double scale = 1;
  for (int i = 0; i < me; ++i) scale *= -1.0e7;
  for (int i = 0; i < count; ++i) send[i] = scale * (1.0 + i * 0.37);
  OK(MPI_Allreduce(send, receive, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  memcpy(of_root, receive, sizeof(double) * (size_t)count);
  OK(MPI_Bcast(of_root, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  CHECK_EQ(memcmp(of_root, receive, sizeof(double) * (size_t)count), 0);
  free(send);
  free(receive);
  free(of_root);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form)
    for (int c = 0; c < COUNTS; ++c)
      for (int in_place = 0; in_place < 2; ++in_place) {
        sums(form, kCounts[c], in_place);
        ordered(form, kCounts[c], op, in_place);
      }
  for (int c = 0; c < COUNTS; ++c) same_bits(kCounts[c]);
  OK(MPI_Op_free(&op));
  return finish();
}
