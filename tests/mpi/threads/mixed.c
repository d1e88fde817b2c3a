/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of different trades at the same time: messages with matched probes, probes by tag, communicators
 * that come and go, collectives with a user's operation, and attributes whose callbacks call MPI
 * (MPI 5.0, 7.7, 11.6.2). */
#include "threads.h"

enum { ROUNDS = 40 };

/* Everybody to the next rank: lengths differ, so the receiver has to ask. */
static void probed(MPI_Comm comm, int rank, int size, int round) {
  int out[64], in[64], count;
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  const int length = 1 + (rank + round) % 64, from = (rank + size - 1) % size;
  for (int i = 0; i < 64; ++i) out[i] = rank * 1000 + round;
  OK(MPI_Isend(out, length, MPI_INT, (rank + 1) % size, round, comm, &request));
  OK(MPI_Mprobe(MPI_ANY_SOURCE, round, comm, &message, &status));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 1 + (from + round) % 64);
  OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
  CHECK_EQ(in[count - 1], from * 1000 + round);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void looked_for(MPI_Comm comm, int rank, int size, int round) {
  int out = rank + round, in = -1, there = 0;
  MPI_Status status;
  MPI_Request request;
  OK(MPI_Issend(&out, 1, MPI_INT, (rank + 1) % size, 7, comm, &request));
  while (!there) OK(MPI_Iprobe(MPI_ANY_SOURCE, 7, comm, &there, &status));
  OK(MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 7, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(in, (rank + size - 1) % size + round);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int copied(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  int rank;
  (void)keyval;
  OK(MPI_Comm_rank(comm, &rank)); /* a callback may call MPI */
  ++*(int*)extra;
  *(void**)copy = value;
  *flag = 1;
  return MPI_SUCCESS;
}

static void duplicated(MPI_Comm comm, int rank, int size, int round) {
  MPI_Comm copy, half;
  MPI_Request request;
  int keyval, copies = 0, value = round, found = 0, *got = NULL;
  OK(MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &keyval, &copies));
  OK(MPI_Comm_set_attr(comm, keyval, &value));
  OK(MPI_Comm_idup(comm, &copy, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_get_attr(copy, keyval, &got, &found));
  CHECK(found && got == &value);
  CHECK_EQ(copies, 1);
  OK(MPI_Comm_split(copy, rank % 2, -rank, &half));
  check_sum(half, round);
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_delete_attr(comm, keyval));
  OK(MPI_Comm_free_keyval(&keyval));
  (void)size;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes;
  OK(MPI_Type_size(*type, &bytes)); /* an operation may call MPI that does not communicate */
  CHECK_EQ(bytes, (int)sizeof(int));
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void reduced(MPI_Comm comm, int rank, int size, int round) {
  MPI_Op op;
  MPI_Request requests[2];
  int values[500], sums[500];
  OK(MPI_Op_create(add, round % 2, &op));
  for (int i = 0; i < 500; ++i) values[i] = rank + i;
  OK(MPI_Iallreduce(values, sums, 500, MPI_INT, op, comm, &requests[0]));
  OK(MPI_Ibarrier(comm, &requests[1]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Op_free(&op));
  for (int i = 0; i < 500; ++i) CHECK_EQ(sums[i], size * (size - 1) / 2 + size * i);
}

static void* work(void* argument) {
  static void (*const trades[THREADS])(MPI_Comm, int, int, int) = {probed, looked_for, duplicated, reduced};
  const Worker* const self = argument;
  int rank, size;
  OK(MPI_Comm_rank(self->comm, &rank));
  OK(MPI_Comm_size(self->comm, &size));
  for (int round = 0; round < ROUNDS; ++round) trades[self->id](self->comm, rank, size, round);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_with_duplicates(work);
  return finish();
}
