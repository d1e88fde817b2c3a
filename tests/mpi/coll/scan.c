/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan and MPI_Exscan in rank order, in place and not; rank 0's buffer in MPI_Exscan (MPI-4, 6.11). */
#include "coll.h"

static void prefix(int form, int count, MPI_Op op, int in_place, int exclusive) {
  const int me = world_rank();
  Affine* const send = malloc(sizeof(Affine) * (size_t)(count + 1));
  Affine* const receive = malloc(sizeof(Affine) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) (in_place ? receive : send)[i] = affine_of(me, i);
  const void* const from = in_place ? MPI_IN_PLACE : (void*)send;
  if (exclusive)
    RUN(form, Exscan, exscan, from, receive, count, MPI_2INT, op, MPI_COMM_WORLD);
  else
    RUN(form, Scan, scan, from, receive, count, MPI_2INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    if (!exclusive)
      CHECK_AFFINE(receive[i], composed(0, me, i));
    else if (me > 0)
      CHECK_AFFINE(receive[i], composed(0, me - 1, i));
  }
  free(send);
  free(receive);
}

static void sums(int form, int count) {
  const int me = world_rank();
  int* const send = ints(count);
  int* const receive = ints(count);
  for (int i = 0; i < count; ++i) send[i] = value_of(me, i);
  RUN(form, Scan, scan, send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK_EQ(receive[i], me * (me + 1) / 2 * 1009 + (me + 1) * (i * 31 + 1));
  UNTOUCHED(receive, count);
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  OK(MPI_Op_create(compose, 0, &op));
  for (int form = 0; form < FORMS; ++form)
    for (int c = 0; c < COUNTS; ++c) {
      for (int k = 0; k < 4; ++k) prefix(form, kCounts[c], op, k % 2, k / 2);
      sums(form, kCounts[c]);
    }
  OK(MPI_Op_free(&op));
  return finish();
}
