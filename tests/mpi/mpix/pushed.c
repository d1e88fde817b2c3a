/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 2+
 * Messages that their sender writes into the receiver's buffers before they are asked for: whoever receives
 * them, and however, gets what was sent, in order (docs/design/managed-buffers.md, "Pushing"). Even ranks
 * send to the next odd
 * one and back. */
#include "managed.h"

enum { kLong = 150000, kRounds = 30 };
static unsigned char out[kLong * 2], own[kLong * 2];
static int rank, other;

static MPI_Request start(int bytes, int tag, int seed, MPI_Comm comm) {
  MPI_Request sent;
  fill(out, (size_t)bytes, seed);
  OK(MPI_Isend(out, bytes, MPI_BYTE, other, tag, comm, &sent));
  return sent;
}

/* The first of these go the ordinary way; they bring the grants. */
static void rounds(int bytes, int tag, MPI_Comm comm) {
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    MPI_Request in, sent;
    const int early = round % 3 != 0;
    if (early) OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, other, tag, comm, &in));
    sent = start(bytes, tag, round + rank, comm);
    if (round % 5 == 0) MPI_Barrier(comm);
    if (!early) OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &in));
    OK(MPI_Wait(&in, &status));
    CHECK_EQ(status.MPI_SOURCE, other);
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    take(status, (size_t)bytes, round + other);
  }
}

/* What has been pushed is taken by ordinary receives, probes and a receive that is too short. */
static void others(void) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request sent;
  int count;
  void* data;
  rounds(kLong, 1, MPI_COMM_WORLD);
  sent = start(kLong, 1, 5, MPI_COMM_WORLD);
  OK(MPI_Probe(other, 1, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, kLong);
  OK(MPI_Recv(own, kLong, MPI_BYTE, other, 1, MPI_COMM_WORLD, &status));
  CHECK_EQ(first_difference(own, kLong, 5), -1);
  CHECK_ERROR(MPIX_Get_recv_buf(status, &data), MPI_ERR_ARG);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  rounds(kLong, 1, MPI_COMM_WORLD);
  sent = start(kLong, 1, 6, MPI_COMM_WORLD);
  OK(MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status));
  OK(MPI_Mrecv(MPIX_BUFFER_LIBRARY, kLong, MPI_BYTE, &message, &status));
  take(status, kLong, 6);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  sent = start(kLong, 1, 7, MPI_COMM_WORLD);
  CHECK_ERROR(MPI_Recv(MPIX_BUFFER_LIBRARY, kLong / 3, MPI_BYTE, other, 1, MPI_COMM_WORLD, &status),
              MPI_ERR_TRUNCATE);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  OK(MPIX_Get_recv_buf(status, &data));
  CHECK_EQ(first_difference(data, kLong / 3, 7), -1);
  OK(MPIX_Release_recv_buf(status, data));
  sent = start(kLong, 1, 8, MPI_COMM_WORLD);
  CHECK_ERROR(MPI_Recv(own, kLong / 3, MPI_BYTE, other, 1, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
  CHECK_EQ(first_difference(own, kLong / 3, 8), -1);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  OK(MPI_Sendrecv(out, kLong, MPI_BYTE, other, 1, MPIX_BUFFER_LIBRARY, kLong, MPI_BYTE, other, 1,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Laid out at both ends: what comes packed is spread. */
static void strided(void) {
  MPI_Datatype columns;
  OK(MPI_Type_vector(kLong / 4, 1, 2, MPI_INT, &columns));
  OK(MPI_Type_commit(&columns));
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    int* data;
    int* cells = (int*)out;
    for (int i = 0; i < kLong / 2; ++i) cells[i] = i * 3 + rank + round;
    OK(MPI_Sendrecv(out, 1, columns, other, 2, MPIX_BUFFER_LIBRARY, 1, columns, other, 2, MPI_COMM_WORLD,
                    &status));
    OK(MPIX_Get_recv_buf(status, (void**)&data));
    for (int i = 0; i < kLong / 4; ++i) CHECK_EQ(data[2 * i], 2 * i * 3 + other + round);
    OK(MPIX_Release_recv_buf(status, data));
  }
  MPI_Type_free(&columns);
}

/* Short and long ones of the same tag stay in order, and so do those of which no buffer is left. */
static void ordered(void) {
  enum { kMany = 12 };
  static unsigned char data[kMany][kLong];
  MPI_Request sent[kMany];
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < kMany; ++i) {
      const int bytes = i % 3 == 1 ? 100 + i : kLong - i;
      fill(data[i], (size_t)bytes, i + rank);
      OK(MPI_Isend(data[i], bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, &sent[i]));
    }
    if (turn == 1) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < kMany; ++i) {
      MPI_Status status;
      const int bytes = i % 3 == 1 ? 100 + i : kLong - i;
      if (i % 4 == 3) {
        OK(MPI_Recv(own, kLong, MPI_BYTE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK_EQ(first_difference(own, (size_t)bytes, i + other), -1);
      } else {
        OK(MPI_Recv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, other, 3, MPI_COMM_WORLD, &status));
        take(status, (size_t)bytes, i + other);
      }
    }
    OK(MPI_Waitall(kMany, sent, MPI_STATUSES_IGNORE));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  NEED_MANAGED();
  rank = world_rank();
  if (world_size() % 2 != 0) return finish();
  other = rank ^ 1;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  others();
  strided();
  ordered();
  rounds(kLong * 2, 1, MPI_COMM_WORLD); /* longer: other buffers */
  rounds(kLong / 2, 1, MPI_COMM_WORLD);
  for (int again = 0; again < 40; ++again) { /* what was granted for a communicator goes back with it */
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (again % 10 == 0) rounds(kLong, 1, comm);
    for (int i = 0; i < 3; ++i) {
      MPI_Status status;
      fill(out, kLong, i + rank);
      OK(MPI_Sendrecv(out, kLong, MPI_BYTE, other, 1, MPIX_BUFFER_LIBRARY, kLong, MPI_BYTE, other, 1, comm,
                      &status));
      take(status, kLong, i + other);
    }
    MPI_Comm_free(&comm);
  }
  return finish();
}
