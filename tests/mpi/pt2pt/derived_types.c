/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes in messages: what the sender gathers by one type the receiver scatters by another of
 * the same signature, and nothing else is touched (MPI-4, 3.3, 5.1). */
#include "check.h"

#include <stddef.h>

enum { kBlocks = 50, kMax = 4000 };

static void check_vector(int me, int next, int previous) {
  /* every third int, received contiguous; then the other way round */
  int source[3 * kMax], target[3 * kMax];
  MPI_Datatype vector;
  MPI_Status status;
  count_t count;
  OK(MPI_Type_vector(kMax, 1, 3, MPI_INT, &vector));
  OK(MPI_Type_commit(&vector));
  for (int i = 0; i < 3 * kMax; ++i) source[i] = me * 100000 + i, target[i] = -1;
  OK(MPI_Sendrecv(source, 1, vector, next, 0, target, kMax, MPI_INT, previous, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, kMax);
  for (int i = 0; i < 3 * kMax; ++i) CHECK_EQ(target[i], i < kMax ? previous * 100000 + 3 * i : -1);
  for (int i = 0; i < 3 * kMax; ++i) target[i] = -1;
  OK(MPI_Sendrecv(source, kMax, MPI_INT, next, 0, target, 1, vector, previous, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, vector, &count));
  CHECK_EQ(count, 1);
  for (int i = 0; i < 3 * kMax; ++i) CHECK_EQ(target[i], i % 3 ? -1 : previous * 100000 + i / 3);
  OK(MPI_Type_free(&vector));
}

static void check_indexed(int me, int next, int previous) {
  /* growing blocks, listed backwards: the order of the list is the order of the data */
  count_t lengths[kBlocks], places[kBlocks];
  int total = 0, room = 0;
  for (int b = 0; b < kBlocks; ++b) {
    lengths[b] = b % 5;
    places[b] = (kBlocks - 1 - b) * 6;
    total += lengths[b];
  }
  room = kBlocks * 6;
  double source[kBlocks * 6], target[kBlocks * 6], flat[kBlocks * 6];
  MPI_Datatype indexed;
  OK(MPI_Type_indexed(kBlocks, lengths, places, MPI_DOUBLE, &indexed));
  OK(MPI_Type_commit(&indexed));
  for (int i = 0; i < room; ++i) source[i] = me + i * 0.5, target[i] = -1.0;
  OK(MPI_Sendrecv(source, 1, indexed, next, 1, flat, room, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  int at = 0;
  for (int b = 0; b < kBlocks; ++b)
    for (int k = 0; k < lengths[b]; ++k) CHECK(flat[at++] == previous + (places[b] + k) * 0.5);
  OK(MPI_Sendrecv(flat, total, MPI_DOUBLE, next, 2, target, 1, indexed, previous, 2, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  int filled = 0;
  for (int i = 0; i < room; ++i) filled += target[i] != -1.0;
  CHECK_EQ(filled, total);
  OK(MPI_Type_free(&indexed));
}

struct particle {
  char kind;
  double place[3];
  int id;
};

static void check_struct(int me, int next, int previous) {
  struct particle source[100], target[100];
  count_t lengths[3] = {1, 3, 1};
  MPI_Aint places[3] = {offsetof(struct particle, kind), offsetof(struct particle, place),
                        offsetof(struct particle, id)};
  MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, type;
  MPI_Aint lower, extent;
  MPI_Status status;
  count_t count, size;
  OK(MPI_Type_create_struct(3, lengths, places, parts, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_get_extent(type, &lower, &extent));
  CHECK_EQ(lower, 0);
  CHECK_EQ(extent, (MPI_Aint)sizeof(struct particle));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 1 + 3 * 8 + 4);
  memset(target, 0x77, sizeof target);
  for (int i = 0; i < 100; ++i) {
    source[i].kind = (char)('a' + i % 26);
    source[i].id = me * 1000 + i;
    for (int d = 0; d < 3; ++d) source[i].place[d] = me + i + d * 0.25;
  }
  OK(MPI_Sendrecv(source, 90, type, next, 3, target, 100, type, previous, 3, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, 90);
  OK(MPI_Get_elements(&status, type, &count));
  CHECK_EQ(count, 90 * 5);
  for (int i = 0; i < 90; ++i) {
    CHECK_EQ(target[i].kind, 'a' + i % 26);
    CHECK_EQ(target[i].id, previous * 1000 + i);
    for (int d = 0; d < 3; ++d) CHECK(target[i].place[d] == previous + i + d * 0.25);
  }
  const unsigned char* untouched = (const unsigned char*)&target[90];
  for (size_t i = 0; i < 10 * sizeof(struct particle); ++i) CHECK_EQ(untouched[i], 0x77);
  OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  check_vector(me, next, previous);
  check_indexed(me, next, previous);
  check_struct(me, next, previous);
  return finish();
}
