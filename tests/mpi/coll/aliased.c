/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 2.3 and 6.2: the send and the receive buffer of a collective are not the same memory; who
 * wants that says MPI_IN_PLACE. Buffers that only look the same are right. np: 1+ */
#include "check.h"

enum { kMost = 64 };

static int buffer[2 * kMost], other[2 * kMost], counts[kMost], displacements[kMost], bytes[kMost], me, size;
static MPI_Datatype types[kMost];

#define REFUSED(call) CHECK_ERROR(call, MPI_ERR_BUFFER)

static void everybody(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  int *b = buffer, *c = counts, *d = displacements;
  REFUSED(MPI_Allreduce(b, b, 1, MPI_INT, MPI_SUM, w));
  REFUSED(MPI_Scan(b, b, 1, MPI_INT, MPI_SUM, w));
  if (size > 1) REFUSED(MPI_Exscan(b, b, 1, MPI_INT, MPI_SUM, w));
  REFUSED(MPI_Reduce_scatter(b, b, c, MPI_INT, MPI_SUM, w));
  REFUSED(MPI_Reduce_scatter_block(b, b, 1, MPI_INT, MPI_SUM, w));
  REFUSED(MPI_Allgather(&b[me], 1, MPI_INT, b, 1, MPI_INT, w));
  REFUSED(MPI_Allgatherv(&b[me], 1, MPI_INT, b, c, d, MPI_INT, w));
  REFUSED(MPI_Alltoall(b, 1, MPI_INT, b, 1, MPI_INT, w));
  REFUSED(MPI_Alltoallv(b, c, d, MPI_INT, b, c, d, MPI_INT, w));
  REFUSED(MPI_Alltoallw(b, c, bytes, types, b, c, bytes, types, w));
}

static void everybody_nonblocking(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  MPI_Request r;
  int *b = buffer, *c = counts, *d = displacements;
  REFUSED(MPI_Iallreduce(b, b, 1, MPI_INT, MPI_SUM, w, &r));
  REFUSED(MPI_Iscan(b, b, 1, MPI_INT, MPI_SUM, w, &r));
  REFUSED(MPI_Ireduce_scatter(b, b, c, MPI_INT, MPI_SUM, w, &r));
  REFUSED(MPI_Ireduce_scatter_block(b, b, 1, MPI_INT, MPI_SUM, w, &r));
  REFUSED(MPI_Iallgather(&b[me], 1, MPI_INT, b, 1, MPI_INT, w, &r));
  REFUSED(MPI_Iallgatherv(&b[me], 1, MPI_INT, b, c, d, MPI_INT, w, &r));
  REFUSED(MPI_Ialltoall(b, 1, MPI_INT, b, 1, MPI_INT, w, &r));
  REFUSED(MPI_Ialltoallv(b, c, d, MPI_INT, b, c, d, MPI_INT, w, &r));
  REFUSED(MPI_Ialltoallw(b, c, bytes, types, b, c, bytes, types, w, &r));
#if MPI_VERSION >= 4
  REFUSED(MPI_Allreduce_init(b, b, 1, MPI_INT, MPI_SUM, w, MPI_INFO_NULL, &r));
  REFUSED(MPI_Allgather_init(&b[me], 1, MPI_INT, b, 1, MPI_INT, w, MPI_INFO_NULL, &r));
  REFUSED(MPI_Alltoall_init(b, 1, MPI_INT, b, 1, MPI_INT, w, MPI_INFO_NULL, &r));
#endif
}

/* What is wrong at the root only is refused there; a right call of the root meets the others. */
static void roots(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  const int root = size - 1, at_root = me == root;
  int *b = buffer, *o = other, *c = counts, *d = displacements, sum = 0;
  MPI_Request r;
  if (at_root) {
    REFUSED(MPI_Reduce(b, b, 1, MPI_INT, MPI_SUM, root, w));
    REFUSED(MPI_Gather(&b[root], 1, MPI_INT, b, 1, MPI_INT, root, w));
    REFUSED(MPI_Gatherv(&b[root], 1, MPI_INT, b, c, d, MPI_INT, root, w));
    REFUSED(MPI_Scatter(b, 1, MPI_INT, &b[root], 1, MPI_INT, root, w));
    REFUSED(MPI_Scatterv(b, c, d, MPI_INT, &b[root], 1, MPI_INT, root, w));
    REFUSED(MPI_Ireduce(b, b, 1, MPI_INT, MPI_SUM, root, w, &r));
    REFUSED(MPI_Igather(&b[root], 1, MPI_INT, b, 1, MPI_INT, root, w, &r));
    REFUSED(MPI_Iscatterv(b, c, d, MPI_INT, &b[root], 1, MPI_INT, root, w, &r));
  }
  o[0] = me + 1;
  OK(MPI_Reduce(o, at_root ? &sum : o, 1, MPI_INT, MPI_SUM, root, w)); /* recvbuf counts at the root only */
  if (at_root) CHECK_EQ(sum, size * (size + 1) / 2);
  OK(MPI_Gather(o, 1, MPI_INT, at_root ? b : o, 1, MPI_INT, root, w));
  if (at_root) CHECK_EQ(b[0], 1);
  o[0] = 0;
  OK(MPI_Scatter(at_root ? b : o, 1, MPI_INT, o, 1, MPI_INT, root, w));
  CHECK_EQ(o[0], me + 1);
}

static void nothing_is_no_memory(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  static int none[kMost];
  int *b = buffer, *d = displacements;
  OK(MPI_Allreduce(b, b, 0, MPI_INT, MPI_SUM, w));
  OK(MPI_Reduce(b, b, 0, MPI_INT, MPI_SUM, 0, w));
  OK(MPI_Scan(b, b, 0, MPI_INT, MPI_SUM, w));
  OK(MPI_Reduce_scatter(b, b, none, MPI_INT, MPI_SUM, w));
  OK(MPI_Gather(b, 0, MPI_INT, b, 0, MPI_INT, 0, w));
  OK(MPI_Scatterv(b, none, d, MPI_INT, b, 0, MPI_INT, 0, w));
  OK(MPI_Allgather(b, 0, MPI_INT, b, 0, MPI_INT, w));
  OK(MPI_Alltoallv(b, none, d, MPI_INT, b, none, d, MPI_INT, w));
}

/* The two halves of one array. */
static void apart_in_one_buffer(void) {
  int sends[kMost], receives[kMost];
  for (int i = 0; i < size; ++i) {
    buffer[i] = me * 100 + i;
    sends[i] = i;
    receives[i] = size + i;
  }
  OK(MPI_Alltoallv(buffer, counts, sends, MPI_INT, buffer, counts, receives, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK_EQ(buffer[size + i], i * 100 + me);
  OK(MPI_Allgather(&buffer[me], 1, MPI_INT, &buffer[size], 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK_EQ(buffer[size + i], i * 101);
}

/* One address with types that lie elsewhere: from MPI_BOTTOM, and from the start of an array. */
static void apart_by_types(void) {
  MPI_Aint from, to;
  MPI_Datatype sent, received;
  int first = 0, second = 1, rows[2] = {0, 2}, columns[2] = {1, 3};
  OK(MPI_Get_address(&buffer[0], &from));
  OK(MPI_Get_address(&other[0], &to));
  OK(MPI_Type_create_hindexed_block(1, 1, &from, MPI_INT, &sent));
  OK(MPI_Type_create_hindexed_block(1, 1, &to, MPI_INT, &received));
  OK(MPI_Type_commit(&sent));
  OK(MPI_Type_commit(&received));
  buffer[0] = 7;
  OK(MPI_Allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, received, MPI_COMM_SELF));
  CHECK_EQ(other[0], 7);
  REFUSED(MPI_Allgather(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, sent, MPI_COMM_SELF));
  OK(MPI_Type_free(&sent));
  OK(MPI_Type_free(&received));
  OK(MPI_Type_create_indexed_block(1, 1, &first, MPI_INT, &sent));
  OK(MPI_Type_create_indexed_block(1, 1, &second, MPI_INT, &received));
  OK(MPI_Type_commit(&sent));
  OK(MPI_Type_commit(&received));
  OK(MPI_Alltoall(buffer, 1, sent, buffer, 1, received, MPI_COMM_SELF));
  CHECK_EQ(buffer[1], 7);
  OK(MPI_Type_free(&sent));
  OK(MPI_Type_free(&received));
  OK(MPI_Type_create_indexed_block(2, 1, rows, MPI_INT, &sent));
  OK(MPI_Type_create_indexed_block(2, 1, columns, MPI_INT, &received));
  OK(MPI_Type_commit(&sent));
  OK(MPI_Type_commit(&received));
  buffer[2] = 9;
  OK(MPI_Gather(buffer, 1, sent, buffer, 1, received, 0, MPI_COMM_SELF));
  CHECK_EQ(buffer[3], 9);
  REFUSED(MPI_Gather(buffer, 1, sent, buffer, 1, sent, 0, MPI_COMM_SELF));
  OK(MPI_Type_free(&sent));
  OK(MPI_Type_free(&received));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = world_rank(), size = world_size();
  if (size > kMost) return CHECK_SKIP;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    displacements[i] = i;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  everybody();
  everybody_nonblocking();
  roots();
  nothing_is_no_memory();
  apart_in_one_buffer();
  apart_by_types();
  return finish();
}
