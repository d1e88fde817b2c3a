/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 2+
 * Long receives that are posted before their messages are sent, after, between wildcards and probes,
 * cancelled at any moment, too short; again and again in changing buffers that are used at once for something
 * else (MPI 5.0, 3.5, 3.7, 3.8, 3.9). A library that writes to buffers of receives that wait must write to
 * none that does not. Ranks work in pairs. */
#include "check.h"

enum { GUARD = 64, LONGEST = 300000, MESSAGES = 8, POSTED = 6, BUFFERS = MESSAGES + POSTED };

static MPI_Comm pair;
static int me, other;
static unsigned char in[BUFFERS][GUARD + LONGEST + GUARD];
static unsigned char out[MESSAGES][LONGEST];
static unsigned seed;

/* The same numbers on both sides of a pair. */
static unsigned below(unsigned limit) {
  seed = seed * 1103515245u + 12345u;
  return (seed >> 16) % limit;
}

static void check_data(const unsigned char* data, int bytes, int which) {
  CHECK_EQ(first_difference(data, (size_t)bytes, which), -1);
}

/* A buffer of its own for each receive: nothing but what is received may change. */
static unsigned char* fresh(int which) {
  memset(in[which], 0xa5, sizeof in[which]);
  return in[which] + GUARD;
}

static void check_rest(int which, int from) {
  const unsigned char* const data = in[which];
  for (int at = 0; at < GUARD; ++at) CHECK_EQ(data[at], 0xa5);
  for (int at = GUARD + from; at < GUARD + LONGEST + GUARD; ++at) CHECK_EQ(data[at], 0xa5);
}

/* Time passes, in the library or outside. */
static void dawdle(unsigned how) {
  volatile unsigned count = 0;
  int flag;
  if (how % 3 == 0) return;
  if (how % 3 == 1) {
    while (count < how * 500) count = count + 1;
    return;
  }
  for (unsigned turn = 0; turn < how % 40; ++turn) {
    OK(MPI_Iprobe(MPI_PROC_NULL, 0, pair, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(other, 999, pair, &flag, MPI_STATUS_IGNORE));
  }
}

static int some_bytes(void) {
  static const int kinds[] = {0, 8, 1000, 16000, 60000, 70000, 150000, LONGEST};
  const int kind = kinds[below(8)], less = (int)below(8);
  return kind > less && below(2) == 0 ? kind - less : kind;
}

struct Message {
  int tag, bytes, which, taken;
};
struct Receive {
  int tag, bytes, message; /* -1: none will come */
  MPI_Request request;
};

/* Which receive each message goes to, by the standard's rules alone. */
static void plan(struct Message* messages, int count, struct Receive* posted, int posts) {
  for (int r = 0; r < posts; ++r) posted[r].message = -1;
  for (int m = 0; m < count; ++m) {
    for (int r = 0; r < posts && !messages[m].taken; ++r) {
      if (posted[r].message >= 0) continue;
      if (posted[r].tag != MPI_ANY_TAG && posted[r].tag != messages[m].tag) continue;
      posted[r].message = m;
      messages[m].taken = 1;
    }
  }
}

static void take_late(const struct Message* message, unsigned how) {
  const int buffer = POSTED;
  unsigned char* const data = fresh(buffer);
  MPI_Message handle;
  MPI_Status status;
  int count;
  if (how % 4 == 0) {
    OK(MPI_Probe(MPI_ANY_SOURCE, message->tag, pair, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, message->bytes);
  }
  if (how % 4 == 1) {
    OK(MPI_Mprobe(other, message->tag, pair, &handle, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(data, LONGEST, MPI_BYTE, &handle, &status));
  } else {
    OK(MPI_Recv(data, LONGEST, MPI_BYTE, how % 4 == 2 ? MPI_ANY_SOURCE : other, message->tag, pair, &status));
  }
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, message->bytes);
  check_data(data, message->bytes, message->which);
  check_rest(buffer, message->bytes);
}

static void finish_posted(struct Receive* receive, int which, const struct Message* messages) {
  MPI_Status status;
  int count, flag;
  unsigned char* const data = in[which] + GUARD;
  if (receive->message < 0) OK(MPI_Cancel(&receive->request));
  const int code = MPI_Wait(&receive->request, &status);
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, receive->message < 0);
  if (flag) {
    check_rest(which, 0);
    return;
  }
  const struct Message* const message = &messages[receive->message];
  const int fits = message->bytes <= receive->bytes;
  CHECK_EQ(check_class(code), fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  CHECK_EQ(status.MPI_TAG, message->tag);
  CHECK_EQ(status.MPI_SOURCE, other);
  if (fits) {
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, message->bytes);
    check_data(data, message->bytes, message->which);
  }
  check_rest(which, fits ? message->bytes : receive->bytes);
}

/* The sender knows that the receive waits. */
static void told(int receiver) {
  MPI_Request request;
  for (int round = 0; round < 200; ++round) {
    const int bytes = 70000 + (int)below(LONGEST - 70000);
    if (me != receiver) {
      fill(out[0], (size_t)bytes, round);
      OK(MPI_Recv(NULL, 0, MPI_BYTE, other, 500, pair, MPI_STATUS_IGNORE));
      OK(MPI_Send(out[0], bytes, MPI_BYTE, other, 1, pair));
      continue;
    }
    OK(MPI_Irecv(fresh(round % BUFFERS), LONGEST, MPI_BYTE, other, 1, pair, &request));
    OK(MPI_Send(NULL, 0, MPI_BYTE, other, 500, pair));
    dawdle((unsigned)round);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_data(in[round % BUFFERS] + GUARD, bytes, round);
    check_rest(round % BUFFERS, bytes);
  }
}

/* Some receives before, some messages, the other receives after: whatever happens, each gets its own. */
static void mixed(int round, int receiver) {
  struct Message messages[MESSAGES];
  struct Receive posted[POSTED];
  MPI_Request sends[MESSAGES];
  const int count = 1 + (int)below(below(3) == 0 ? MESSAGES : 2);
  const int posts = (int)below(below(3) == 0 ? POSTED + 1 : 3);
  const unsigned meet = below(4), pause = below(200), tags = 1 + below(3);
  for (int m = 0; m < count; ++m) {
    const struct Message message = {(int)below(tags), some_bytes(), round * MESSAGES + m, 0};
    messages[m] = message;
  }
  for (int r = 0; r < posts; ++r) {
    posted[r].tag = below(6) == 0 ? MPI_ANY_TAG : (int)below(tags);
    posted[r].bytes = below(8) == 0 ? some_bytes() : LONGEST;
  }
  plan(messages, count, posted, posts);
  if (me == receiver) {
    for (int r = 0; r < posts; ++r) {
      OK(MPI_Irecv(fresh(r), posted[r].bytes, MPI_BYTE, r % 5 == 4 ? MPI_ANY_SOURCE : other, posted[r].tag,
                   pair, &posted[r].request));
    }
    if (meet != 0) OK(MPI_Send(NULL, 0, MPI_BYTE, other, 500, pair));
    dawdle(pause);
    for (int m = 0; m < count; ++m) {
      if (!messages[m].taken) take_late(&messages[m], (unsigned)round + (unsigned)m);
    }
    for (int r = 0; r < posts; ++r) finish_posted(&posted[r], r, messages);
    return;
  }
  if (meet != 0) OK(MPI_Recv(NULL, 0, MPI_BYTE, other, 500, pair, MPI_STATUS_IGNORE));
  if (meet == 2) dawdle(pause / 2);
  for (int m = 0; m < count; ++m) {
    fill(out[m], (size_t)messages[m].bytes, messages[m].which);
    if (meet == 3) dawdle(pause);
    OK(MPI_Isend(out[m], messages[m].bytes, MPI_BYTE, other, messages[m].tag, pair, &sends[m]));
  }
  OK(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
  for (int m = 0; m < count; ++m) memset(out[m], 0x5a, LONGEST);
}

/* Cancelled at any moment: the message goes to that receive or to the next, and a cancelled buffer is the
 * program's at once. */
static void cancelled(int round, int receiver) {
  const int bytes = 70000 + (int)below(100000);
  const unsigned before = below(300), after = below(300);
  MPI_Request request;
  MPI_Status status;
  int flag;
  if (me != receiver) {
    fill(out[0], (size_t)bytes, round);
    if (below(2) == 0) OK(MPI_Recv(NULL, 0, MPI_BYTE, other, 500, pair, MPI_STATUS_IGNORE));
    dawdle(before);
    OK(MPI_Send(out[0], bytes, MPI_BYTE, other, 3, pair));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, other, 501, pair, MPI_STATUS_IGNORE));
    return;
  }
  const int tells = below(2) == 0;
  OK(MPI_Irecv(fresh(0), LONGEST, MPI_BYTE, other, 3, pair, &request));
  if (tells) OK(MPI_Send(NULL, 0, MPI_BYTE, other, 500, pair));
  dawdle(after);
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  if (flag) {
    check_rest(0, 0);
    memset(in[0], 0x77, sizeof in[0]);
    OK(MPI_Recv(fresh(1), LONGEST, MPI_BYTE, other, 3, pair, MPI_STATUS_IGNORE));
    for (size_t at = 0; at < sizeof in[0]; ++at) CHECK_EQ(in[0][at], 0x77);
  }
  check_data(in[flag] + GUARD, bytes, round);
  check_rest(flag, bytes);
  OK(MPI_Send(NULL, 0, MPI_BYTE, other, 501, pair));
}

/* Both directions at once, persistent, in a buffer that is overwritten after each round. */
static void persistent(void) {
  MPI_Request requests[2];
  fresh(0);
  OK(MPI_Recv_init(in[0] + GUARD, LONGEST, MPI_BYTE, other, 4, pair, &requests[0]));
  OK(MPI_Send_init(out[0], 150000, MPI_BYTE, other, 4, pair, &requests[1]));
  for (int round = 0; round < 200; ++round) {
    OK(MPI_Start(&requests[0]));
    fill(out[0], (size_t)150000, round + me);
    if (round % 3 == 0) OK(MPI_Barrier(pair));
    dawdle(below(100) + (unsigned)me);
    OK(MPI_Start(&requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_data(in[0] + GUARD, 150000, round + other);
    fresh(0);
  }
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
}

/* A receive waits in each of several communicators. */
static void several(void) {
  enum { COMMS = 12, BYTES = 100000 };
  MPI_Comm comms[COMMS];
  MPI_Request receives[COMMS], sends[COMMS];
  for (int c = 0; c < COMMS; ++c) OK(MPI_Comm_dup(pair, &comms[c]));
  for (int round = 0; round < 50; ++round) {
    for (int c = 0; c < COMMS; ++c)
      OK(MPI_Irecv(fresh(c), BYTES, MPI_BYTE, other, c, comms[c], &receives[c]));
    if (round % 2 == 0) OK(MPI_Barrier(pair));
    for (int c = 0; c < COMMS; ++c) {
      const int which = (c * 5 + round) % COMMS;
      fill(out[c % MESSAGES], (size_t)BYTES, which + round + me);
      OK(MPI_Isend(out[c % MESSAGES], BYTES, MPI_BYTE, other, which, comms[which], &sends[c]));
      if (c % MESSAGES == MESSAGES - 1) OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Waitall(COMMS - MESSAGES, sends + MESSAGES, MPI_STATUSES_IGNORE));
    for (int c = 0; c < COMMS; ++c) {
      OK(MPI_Wait(&receives[c], MPI_STATUS_IGNORE));
      check_data(in[c] + GUARD, BYTES, c + round + other);
      check_rest(c, BYTES);
    }
  }
  for (int c = 0; c < COMMS; ++c) OK(MPI_Comm_free(&comms[c]));
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank() / 2, 0, &pair));
  OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
  OK(MPI_Comm_rank(pair, &me));
  OK(MPI_Comm_size(pair, &size));
  other = 1 - me;
  seed = (unsigned)(world_rank() / 2) + 1;
  if (size == 2) {
    told(0);
    told(1);
    for (int round = 0; round < 1500; ++round) {
      mixed(round, round % 7 == 0);
      OK(MPI_Barrier(pair)); /* what is posted now waits for this round's messages only */
    }
    for (int round = 0; round < 800; ++round) cancelled(round, round % 3 == 0);
    persistent();
    several();
  }
  OK(MPI_Comm_free(&pair));
  return finish();
}
