/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that do not count may be anything: the buffer in which MPI_Exscan gives rank 0 nothing (MPI 5.0,
 * 6.11.2); the datatypes of peers that nothing goes to or comes from, for which programs give
 * MPI_DATATYPE_NULL.
 * np: 1-16 */
#include "coll.h"

enum { kMost = 16, kLength = 300 };

static int rank, size;

static void exscan(int form, int length) {
  int send[kLength], receive[kLength];
  for (int i = 0; i < length; ++i) {
    send[i] = rank + i;
    receive[i] = -1;
  }
  RUN(form, Exscan, exscan, send, rank == 0 ? NULL : receive, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; rank > 0 && i < length; ++i) CHECK_EQ(receive[i], rank * (rank - 1) / 2 + rank * i);
}

/* In a ring, to the next and from the one before. */
static void alltoallw(int form) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int sent[kMost] = {0}, received[kMost] = {0};
  int out = rank, in = -1;
  int nowhere[kMost] = {0};
  MPI_Datatype to[kMost], from[kMost];
  for (int i = 0; i < size; ++i) to[i] = from[i] = MPI_DATATYPE_NULL;
  to[next] = from[before] = MPI_INT;
  sent[next] = received[before] = 1;
  RUN(form, Alltoallw, alltoallw, &out, sent, nowhere, to, &in, received, nowhere, from, MPI_COMM_WORLD);
  CHECK_EQ(in, before);
}

/* A line: the ends have one neighbour less. The second direction carries nothing. */
static void neighbor_alltoallw(int form) {
  const int ring = 1;
  MPI_Comm comm;
  int sent[2] = {0, 1}, received[2] = {1, 0};
  MPI_Aint nowhere[2] = {0, 0};
  MPI_Datatype to[2] = {MPI_DATATYPE_NULL, MPI_INT}, from[2] = {MPI_INT, MPI_DATATYPE_NULL};
  int out = rank, in = -1;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm));
  RUN(form, Neighbor_alltoallw, neighbor_alltoallw, &out, sent, nowhere, to, &in, received, nowhere, from,
      comm);
  CHECK_EQ(in, (rank + size - 1) % size);
  OK(MPI_Comm_free(&comm));
}

/* What carries data needs a type. */
static void types_that_count(void) {
  int sent[kMost], received[kMost];
  int nowhere[kMost] = {0};
  MPI_Datatype none[kMost], ints[kMost];
  int out = 0, in[kMost];
  for (int i = 0; i < size; ++i) {
    sent[i] = received[i] = 1;
    none[i] = MPI_DATATYPE_NULL;
    ints[i] = MPI_INT;
  }
  CHECK_ERROR(MPI_Alltoallw(&out, sent, nowhere, none, in, received, nowhere, ints, MPI_COMM_WORLD),
              MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Alltoallw(&out, sent, nowhere, ints, in, received, nowhere, none, MPI_COMM_WORLD),
              MPI_ERR_TYPE);
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  rank = world_rank();
  size = world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  for (int form = 0; form < FORMS; ++form) {
    exscan(form, 1);
    exscan(form, kLength);
    alltoallw(form);
    neighbor_alltoallw(form);
  }
  types_that_count();
  return finish();
}
