/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 2+
 * Long messages in memory of MPI_Alloc_mem, that other processes may map and copy (MPI 5.0, 9.2), in every
 * way in which one is found and received (3.8.1 to 3.8.4): probed, matched, cancelled, cut off, started
 * again, mixed with messages in ordinary memory. Each rank sends to the next one and receives from the one
 * before. */
#include "check.h"

enum { kBytes = 300000, kMany = 6, kRounds = 12 };

static unsigned char *out[kMany], *in[kMany];
static unsigned char own_out[kMany][kBytes], own_in[kMany][kBytes];
static int me, next, before;

/* Message i of a round: even ones in memory of MPI_Alloc_mem, odd ones in the program's, at either end. */
static unsigned char* source(int i) { return i % 2 == 0 ? out[i] : own_out[i]; }
static unsigned char* target(int i) { return i / 2 % 2 == 0 ? in[i] : own_in[i]; }
static int seed_of(int rank, int round, int i) { return rank * 31 + round * 7 + i; }

static void send(int i, int round, int tag, MPI_Request* request) {
  fill(source(i), kBytes, seed_of(me, round, i));
  OK(MPI_Isend(source(i), kBytes, MPI_BYTE, next, tag, MPI_COMM_WORLD, request));
}
static void check_in(const unsigned char* buffer, int i, int round, MPI_Status* status) {
  count_t count;
  OK(MPI_Get_count(status, MPI_BYTE, &count));
  CHECK_EQ(count, kBytes);
  CHECK_EQ(status->MPI_SOURCE, before);
  CHECK_EQ(first_difference(buffer, kBytes, seed_of(before, round, i)), -1);
}

/* Matched probes take messages out of their order; what is left is received by wildcards. */
static void matched(int round) {
  MPI_Request sends[kMany], receives[kMany];
  MPI_Message messages[kMany];
  MPI_Status status;
  for (int i = 0; i < kMany; ++i) send(i, round, 1, &sends[i]);
  for (int i = 0; i < kMany - 2; ++i) {
    OK(MPI_Mprobe(round % 2 ? MPI_ANY_SOURCE : before, 1, MPI_COMM_WORLD, &messages[i], &status));
    CHECK_EQ(status.MPI_SOURCE, before);
  }
  for (int i = kMany - 3; i >= 0; --i)
    OK(MPI_Imrecv(target(i), kBytes, MPI_BYTE, &messages[i], &receives[i]));
  for (int i = kMany - 2; i < kMany; ++i)
    OK(MPI_Irecv(target(i), kBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[i]));
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Wait(&receives[i], &status));
    check_in(target(i), i, round, &status);
  }
  OK(MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE));
}

/* A probe finds the message that the next receive gets, also while others are being copied. */
static void probed(int round) {
  MPI_Request sends[kMany], receives[kMany];
  MPI_Status status;
  for (int i = 0; i < kMany; ++i) send(i, round, i, &sends[i]);
  for (int i = kMany - 1; i >= 0; --i) {
    int flag = 0;
    count_t count;
    while (!flag) OK(MPI_Iprobe(before, i, MPI_COMM_WORLD, &flag, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, kBytes);
    OK(MPI_Irecv(target(i), kBytes, MPI_BYTE, before, i, MPI_COMM_WORLD, &receives[i]));
    OK(MPI_Iprobe(before, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag); /* it is that receive's */
  }
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Wait(&receives[i], &status));
    check_in(target(i), i, round, &status);
  }
  OK(MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE));
}

/* A cancelled send is gone or arrives; a receive that is too short gets no byte more than fits. */
static void cancelled_and_cut(int round) {
  MPI_Request sent;
  MPI_Status status;
  int gone, theirs = 0;
  send(0, round, 12, &sent);
  if (round % 3 != 0) OK(MPI_Cancel(&sent));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (round % 3 == 0) OK(MPI_Recv(in[0], kBytes, MPI_BYTE, before, 12, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&sent, &status));
  OK(MPI_Test_cancelled(&status, &gone));
  OK(MPI_Sendrecv(&gone, 1, MPI_INT, next, 13, &theirs, 1, MPI_INT, before, 13, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  if (round % 3 == 0) {
    CHECK(!gone);
    CHECK_EQ(first_difference(in[0], kBytes, seed_of(before, round, 0)), -1);
  } else {
    CHECK(gone); /* nobody has matched it */
    CHECK(theirs);
    OK(MPI_Iprobe(before, 12, MPI_COMM_WORLD, &gone, MPI_STATUS_IGNORE));
    CHECK(!gone);
  }
  send(2, round, 14, &sent);
  memset(in[2], 0xa5, kBytes);
  CHECK_ERROR(MPI_Recv(in[2], kBytes / 3, MPI_BYTE, before, 14, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
  for (int i = kBytes / 3; i < kBytes; ++i) CHECK_EQ(in[2][i], 0xa5);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

/* The same buffers again, synchronous and not. */
static void persistent(void) {
  MPI_Request requests[4];
  OK(MPI_Send_init(out[0], kBytes, MPI_BYTE, next, 5, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Ssend_init(out[1], kBytes, MPI_BYTE, next, 6, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Recv_init(in[0], kBytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Recv_init(in[1], kBytes, MPI_BYTE, before, 6, MPI_COMM_WORLD, &requests[3]));
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i) fill(out[i], kBytes, seed_of(me, round, i));
    OK(MPI_Startall(4, requests));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; ++i) CHECK_EQ(first_difference(in[i], kBytes, seed_of(before, round, i)), -1);
  }
  for (int i = 0; i < 4; ++i) OK(MPI_Request_free(&requests[i]));
}

/* More at once than a process can have copied by several. */
static void many_at_once(void) {
  enum { kAll = 24, kPart = 40000 };
  unsigned char *to, *from;
  MPI_Request requests[2 * kAll];
  OK(MPI_Alloc_mem(kAll * kPart, MPI_INFO_NULL, &from));
  OK(MPI_Alloc_mem(kAll * kPart, MPI_INFO_NULL, &to));
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kAll; ++i) {
      fill(from + i * kPart, kPart, seed_of(me, round, i));
      OK(MPI_Irecv(to + i * kPart, kPart, MPI_BYTE, before, i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < kAll; ++i)
      OK(MPI_Isend(from + i * kPart, kPart, MPI_BYTE, next, i, MPI_COMM_WORLD, &requests[kAll + i]));
    OK(MPI_Waitall(2 * kAll, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kAll; ++i)
      CHECK_EQ(first_difference(to + i * kPart, kPart, seed_of(before, round, i)), -1);
  }
  OK(MPI_Free_mem(to));
  OK(MPI_Free_mem(from));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = world_rank();
  next = (me + 1) % world_size();
  before = (me + world_size() - 1) % world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &out[i]));
    OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &in[i]));
  }
  for (int round = 0; round < kRounds; ++round) {
    matched(round);
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* wildcards of the next part are not for this one's messages */
    probed(round);
    cancelled_and_cut(round);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  persistent();
  many_at_once();
  for (int i = 0; i < kMany; ++i) {
    OK(MPI_Free_mem(out[i]));
    OK(MPI_Free_mem(in[i]));
  }
  return finish();
}
