/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank is killed while all hold receive buffers of the library's, with bytes of each other; the
 * others read, write and release theirs, and go on.
 * Usage: holding STAGE AFTERWARDS
 *   STAGE       when it is killed: held: while its own receives wait and the others send to it;
 *               sent: it has also sent messages that nobody has asked for yet
 *               never: nobody is killed
 *   AFTERWARDS  release: the others give everything back; keep: they give back nothing of the dead one's, and
 *               read it after MPI_Finalize
 *
 * Lengths: copied into a buffer; what a network's transport leaves where it has received it; longer than any
 * eager limit, which within a node is pushed into a buffer from the second message on. */
#include <mpi.h>
#include <mpix.h>
#include <stdlib.h>
#include <string.h>

#include "deaths.h"

enum { kRanks = 8, kLengths = 3, kRounds = 5, kUnread = 2 };
enum { kWaits = 10, kGo, kEnd }; /* tags; those of the rounds are lengths */
static const int lengths[kLengths] = {700, 20000, 300000};

struct held {
  MPI_Status status;
  unsigned char* data;
  int from, bytes, seed;
};
static int size, victim;
static unsigned char* out[kLengths];

static void ok(int code, const char* what) {
  if (code != MPI_SUCCESS) fail(what, code);
}

static int seed_of(int from, int to, int length, int round) {
  return from * 31 + to * 7 + length * 3 + round;
}

static struct held take(MPI_Status status, int from, int bytes, int seed) {
  struct held one = {status, NULL, from, bytes, seed};
  int count = 0;
  void* data = NULL;
  ok(MPIX_Get_recv_buf(status, &data), "a buffer is not given");
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != bytes || data == NULL) fail("another length", count);
  one.data = data;
  verify(one.data, bytes, seed);
  return one;
}

static void release(const struct held* one) {
  ok(MPIX_Release_recv_buf(one->status, one->data), "a buffer is not taken back");
}

/* Everybody of the first `ranks` sends to everybody. What has come is in `to`; returns how many. */
static int everybody(int ranks, int round, struct held* to) {
  MPI_Request in[kRanks * kLengths], sent[kRanks];
  MPI_Status status[kRanks * kLengths];
  int count = 0;
  for (int from = 0; from < ranks; ++from)
    for (int length = 0; length < kLengths && from != rank; ++length)
      ok(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, from, length, MPI_COMM_WORLD, &in[count++]),
         "no receive");
  for (int length = 0; length < kLengths; ++length) {
    int started = 0;
    for (int other = 0; other < ranks; ++other) { /* one message to each, out of memory that is used again */
      if (other == rank) continue;
      put(out[length], lengths[length], seed_of(rank, other, length, round));
      ok(MPI_Isend(out[length], lengths[length], MPI_BYTE, other, length, MPI_COMM_WORLD, &sent[started]),
         "no send");
      ok(MPI_Wait(&sent[started++], MPI_STATUS_IGNORE), "a send has failed");
    }
  }
  ok(MPI_Waitall(count, in, status), "a receive has failed");
  count = 0;
  for (int from = 0; from < ranks; ++from)
    for (int length = 0; length < kLengths && from != rank; ++length, ++count)
      to[count] = take(status[count], from, lengths[length], seed_of(from, rank, length, round));
  return count;
}

/* Messages to everybody that nobody has asked for; within a node they are pushed, as those of the rounds. */
static void send_unread(void) {
  MPI_Request sent;
  for (int i = 0; i < kUnread; ++i)
    for (int other = 0; other < victim; ++other) {
      put(out[1 + i], lengths[1 + i], 50 + other);
      ok(MPI_Isend(out[1 + i], lengths[1 + i], MPI_BYTE, other, 1 + i, MPI_COMM_WORLD, &sent), "no send");
      MPI_Request_free(&sent);
    }
}

/* With receives posted and the others on their way into these. */
static void be_killed(const char* stage) {
  MPI_Request waits;
  int dead = 0, token = 0;
  for (int from = 0; from < victim; ++from)
    ok(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, from, kWaits, MPI_COMM_WORLD, &waits),
       "no receive");
  if (strcmp(stage, "sent") == 0) send_unread();
  for (int from = 0; from < victim; ++from) {
    MPI_Send(&token, 1, MPI_INT, from, kGo, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, from, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  die(&dead);
}

/* Returns when the loss is known, and nothing is under way any more. */
static void outlive(const char* stage) {
  MPI_Request late;
  MPI_Status status;
  int token = 0, unread = 0;
  ok(MPI_Recv(&token, 1, MPI_INT, victim, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "it is lost too early");
  ok(MPI_Send(&token, 1, MPI_INT, victim, kGo, MPI_COMM_WORLD), "it is lost too early");
  put(out[2], lengths[2], 3);
  if (!lost(MPI_Isend(out[2], lengths[2], MPI_BYTE, victim, kWaits, MPI_COMM_WORLD, &late)))
    lost(MPI_Wait(&late, MPI_STATUS_IGNORE));
  if (!lost(MPI_Recv(&token, 1, MPI_INT, victim, kEnd, MPI_COMM_WORLD, MPI_STATUS_IGNORE)))
    fail("a message came from the dead", token);
  /* What it had sent before may be lost with it, but is not half there. */
  for (int i = 0; i < kUnread && strcmp(stage, "sent") == 0; ++i) {
    if (lost(MPI_Recv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, victim, 1 + i, MPI_COMM_WORLD, &status)))
      continue;
    const struct held one = take(status, victim, lengths[1 + i], 50 + rank);
    release(&one);
    ++unread;
  }
  printf("rank %d has got %d unread\n", rank, unread);
}

/* All that is held is as it came, and can be written to, one without the others. */
static void use(struct held* held, int count) {
  for (int i = 0; i < count; ++i) verify(held[i].data, held[i].bytes, held[i].seed);
  for (int i = 0; i < count; ++i) {
    held[i].seed += 17 + i;
    put(held[i].data, held[i].bytes, held[i].seed);
  }
  for (int i = 0; i < count; ++i) verify(held[i].data, held[i].bytes, held[i].seed);
}

/* Those who live go on as before, while everything is held; then it is given back. */
static void go_on(struct held* held, int count, int keeps) {
  struct held more[kRanks * kLengths];
  int kept = 0;
  use(held, count);
  for (int round = 0; round < kRounds; ++round) {
    const int now = everybody(victim, 20 + round, more);
    for (int i = 0; i < now; ++i) release(&more[i]);
  }
  for (int i = count - 1; i >= 0; --i) {
    verify(held[i].data, held[i].bytes, held[i].seed);
    if (keeps && held[i].from == victim) continue;
    release(&held[i]);
    if (MPIX_Release_recv_buf(held[i].status, held[i].data) == MPI_SUCCESS)
      fail("it was given back twice", i);
  }
  for (int round = 0; round < kRounds; ++round) { /* what was given back is used again */
    const int now = everybody(victim, 40 + round, more);
    for (int i = 0; i < now; ++i) release(&more[i]);
  }
  for (int i = 0; i < count; ++i)
    if (keeps && held[i].from == victim) {
      verify(held[i].data, held[i].bytes, held[i].seed);
      held[kept++] = held[i];
    }
  printf("rank %d goes on\n", rank);
  fflush(stdout);
  MPI_Finalize();
  for (int i = 0; i < kept; ++i) verify(held[i].data, held[i].bytes, held[i].seed);
  if (keeps) printf("rank %d has read %d\n", rank, kept);
}

int main(int argc, char** argv) {
  struct held held[kRanks * kLengths];
  int count = 0;
  if (argc < 3) return 2;
  const char* const stage = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  victim = size - 1;
  if (size < 2 || size > kRanks) fail("for 2 to 8 ranks", size);
  for (int i = 0; i < kLengths; ++i) out[i] = malloc((size_t)lengths[i]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int round = 0; round < kRounds; ++round) {
    count = everybody(size, round, held);
    for (int i = 0; i < count && round + 1 < kRounds; ++i) release(&held[i]);
  }
  if (strcmp(stage, "never") == 0) {
    victim = size; /* all go on */
  } else {
    if (rank == victim) be_killed(stage);
    outlive(stage);
  }
  go_on(held, count, strcmp(argv[2], "keep") == 0);
  for (int i = 0; i < kLengths; ++i) free(out[i]);
  return 0;
}
