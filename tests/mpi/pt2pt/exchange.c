/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs that send to each other at the same time, with lengths on both sides of where libraries change the
 * way of a message: in every order of posting, truncated, cancelled, with layouts, in several communicators,
 * and with more in one direction than in the other (MPI 5.0, 3.5, 3.7, 3.8.4, 3.11). np: 2+ */
#include "check.h"

enum { LONGEST = (1 << 20) + 1, GUARD = 8, WINDOW = 6 };

static int me, peer;
static unsigned char *out, *in;

static void expect(const unsigned char* got, int bytes, int seed) {
  CHECK_EQ(first_difference(got, (size_t)bytes, seed), -1);
  for (int i = 0; i < GUARD; ++i) CHECK_EQ(got[bytes + i], 0x5a);
}

static void prepare(int bytes, int seed) {
  fill(out, (size_t)bytes, me + seed);
  memset(in, 0x5a, (size_t)bytes + GUARD);
}

/* At each length in each order; the ranks of a pair need not have the same. */
static void both_ways(int bytes) {
  for (int order = 0; order < 4; ++order) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    count_t count;
    prepare(bytes, bytes + order);
    if (order == 0 || (order == 3 && me % 2)) {
      OK(MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 1, in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                      &statuses[0]));
    } else {
      const int receive_first = order == 1;
      if (receive_first) OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]));
      OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]));
      if (!receive_first) OK(MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]));
      OK(MPI_Waitall(2, requests, statuses));
    }
    OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(statuses[0].MPI_SOURCE, peer);
    expect(in, bytes, peer + bytes + order);
  }
}

/* The message is there before the receive is posted, and the answering send is not. */
static void late(int bytes) {
  MPI_Request sent;
  MPI_Status status;
  prepare(bytes, bytes);
  if (me % 2 == 0) {
    OK(MPI_Sendrecv(out, bytes, MPI_BYTE, peer, 2, in, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &status));
  } else {
    MPI_Request received;
    OK(MPI_Probe(peer, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &received));
    OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &sent));
    OK(MPI_Wait(&received, &status));
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  }
  expect(in, bytes, peer + bytes);
}

/* Both receives are too short: both fail, both sends end, and nothing is written beyond the buffers. */
static void truncated(int bytes, int room) {
  MPI_Request requests[2];
  MPI_Status status;
  prepare(bytes, bytes);
  memset(in, 0x5a, (size_t)room + GUARD);
  OK(MPI_Irecv(in, room, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[1]));
  CHECK_ERROR(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
  OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  for (int i = 0; i < GUARD; ++i) CHECK_EQ(in[room + i], 0x5a);
}

/* One receive is cancelled before anything can match it, and the exchange beside it goes on. */
static void cancelled(int bytes) {
  MPI_Request unwanted, requests[2];
  MPI_Status status;
  unsigned char nothing[8];
  int was;
  prepare(bytes, bytes);
  OK(MPI_Irecv(nothing, 8, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &unwanted));
  OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Cancel(&unwanted));
  OK(MPI_Wait(&unwanted, &status));
  OK(MPI_Test_cancelled(&status, &was));
  CHECK(was);
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  expect(in, bytes, peer + bytes);
}

/* A send that nobody receives is taken back, while another of the same length goes through. */
static void send_cancelled(int bytes) {
  MPI_Request unwanted, requests[2];
  MPI_Status status;
  int was, there;
  prepare(bytes, bytes);
  OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 6, MPI_COMM_WORLD, &unwanted));
  OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Cancel(&unwanted));
  OK(MPI_Wait(&unwanted, &status));
  OK(MPI_Test_cancelled(&status, &was));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  expect(in, bytes, peer + bytes);
  /* Both now know of each other whether a message is left. */
  OK(MPI_Sendrecv(&was, 1, MPI_INT, peer, 8, &there, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &status));
  if (!there) OK(MPI_Recv(in, bytes, MPI_BYTE, peer, 6, MPI_COMM_WORLD, &status));
}

/* Every other int of one side against contiguous ints of the other. */
static void layouts(int bytes) {
  const int count = bytes / 4;
  MPI_Datatype type;
  int* const from = (int*)out;
  int* const to = malloc(sizeof(int) * 2 * (size_t)count + sizeof(int));
  OK(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  for (int i = 0; i < count; ++i) from[i] = me * 1000 + i;
  for (int i = 0; i <= 2 * count; ++i) to[i] = -1;
  if (me % 2) {
    OK(MPI_Sendrecv(from, count, MPI_INT, peer, 9, to, 1, type, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i <= 2 * count; ++i) CHECK_EQ(to[i], i % 2 || i == 2 * count ? -1 : peer * 1000 + i);
  } else {
    for (int i = 0; i < 2 * count; ++i) to[i] = me * 1000 + i;
    OK(MPI_Sendrecv(to, 1, type, peer, 9, from, count, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; ++i) CHECK_EQ(from[i], peer * 1000 + i);
  }
  OK(MPI_Type_free(&type));
  free(to);
}

/* Messages of three communicators at once, and a window in one direction beside one message in the other. */
static void several(int bytes) {
  MPI_Comm comms[3];
  MPI_Request requests[2 * WINDOW];
  unsigned char* const got[3] = {in, malloc((size_t)bytes + GUARD), malloc((size_t)bytes + GUARD)};
  int n = 0;
  prepare(bytes, bytes);
  for (int c = 0; c < 3; ++c) {
    memset(got[c], 0x5a, (size_t)bytes + GUARD);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
  }
  for (int c = 0; c < 3; ++c) OK(MPI_Irecv(got[c], bytes, MPI_BYTE, peer, 1, comms[2 - c], &requests[n++]));
  for (int c = 0; c < 3; ++c) OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 1, comms[c], &requests[n++]));
  while (n > 0) OK(MPI_Wait(&requests[--n], MPI_STATUS_IGNORE));
  for (int c = 0; c < 3; ++c) {
    expect(got[c], bytes, peer + bytes);
    OK(MPI_Comm_free(&comms[c]));
  }
  const int sends = me % 2 ? WINDOW : 1, receives = me % 2 ? 1 : WINDOW;
  memset(in, 0x5a, (size_t)bytes + GUARD);
  for (int i = 0; i < sends; ++i)
    OK(MPI_Isend(out, bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[n++]));
  for (int i = receives; i > 0; --i) {
    OK(MPI_Recv(in, bytes, MPI_BYTE, peer, i - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect(in, bytes, peer + bytes);
  }
  OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
  free(got[1]);
  free(got[2]);
}

int main(int argc, char** argv) {
  static const int edges[] = {4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576};
  MPI_Init(&argc, &argv);
  const int size = world_size();
  me = world_rank();
  peer = me ^ 1;
  out = malloc(LONGEST + GUARD);
  in = malloc(LONGEST + GUARD);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  for (size_t i = 0; i < sizeof edges / sizeof *edges; ++i) {
    if (peer < size) {
      for (int bytes = edges[i] - 1; bytes <= edges[i] + 1; ++bytes) {
        both_ways(bytes);
        late(bytes);
      }
      for (int room = 0; room < edges[i]; room += edges[i] / 2 - 1) truncated(edges[i] + 1, room);
      cancelled(edges[i]);
      send_cancelled(edges[i] + 1);
      layouts(edges[i]);
    }
    if (size % 2 == 0) several(edges[i] / 2 + 1);
  }
  free(in);
  free(out);
  return finish();
}
