/* SPDX-License-Identifier: BSD-3-Clause */
/* One of those who copy a message together is killed in the middle of a chunk; the others go on.
 * Usage: copiers WHO STAGE NTH AWAY DELAY_MS [pushed]
 *   WHO      sender (rank 0), receiver (1) or helper (2, which waits for a message)
 *   STAGE    before, half, after: how much of its NTH chunk it has copied; start: when the receiver begins
 *   AWAY     1: the sender is outside of MPI until somebody has died
 *   DELAY_MS how long the helper is in the middle of a chunk after that
 *   pushed   into buffers of the library's, which the sender writes to before anybody has asked: the whole
 *            message is one chunk, the sender's. receiver start: before it has received any; after: while it
 *            has one
 *
 * memcpy is this file's: the library copies chunks with it, and nothing else here is as long as one.
 * Whoever is not to die stops in its first chunk until the other one has, so that this one gets its own. */
#include <mpi.h>
#include <mpix.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deaths.h"

/* With MPI_Alloc_mem's memory at both ends, and nobody known as idle, a message is cut into four. */
enum { kChunk = 256 * 1024, kBytes = 4 * kChunk, kMessages = 12 };

struct board {
  int begun, dead; /* the receiver copies; somebody is about to be killed */
};
static volatile struct board* board; /* of all ranks */
static int who, nth, armed, chunks, pushed;
static const char* stage = "";
static long delay_ms;

/* In the middle of a chunk, or before or behind it. */
static void at(const char* here) {
  if (rank == who && chunks == nth && strcmp(stage, here) == 0) die(&board->dead);
  if (rank == who || pushed || chunks != 1 || strcmp(here, "half") != 0) return;
  if (rank == 1) board->begun = 1;
  wait_until(&board->dead);
  if (rank == 2) usleep((useconds_t)delay_ms * 1000);
}

static void copy(unsigned char* to, const unsigned char* from, size_t bytes) {
#ifdef __x86_64__
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  volatile unsigned char* out = to; /* or the compiler makes it a memcpy */
  while (bytes-- != 0) *out++ = *from++;
#endif
}

void* memcpy(void* to, const void* from, size_t bytes) {
  const int chunk = armed && bytes == (pushed ? kBytes : kChunk);
  const size_t half = chunk ? bytes / 2 : bytes;
  chunks += chunk;
  if (chunk) at("before");
  copy(to, from, half);
  if (!chunk) return to;
  at("half");
  copy((unsigned char*)to + half, (const unsigned char*)from + half, bytes - half);
  at("after");
  return to;
}

/* A receive, into the buffer or one of the library's. Whether somebody was lost; else it was message
 * `seed`. */
static int get(unsigned char* buffer, int from, int tag, int seed) {
  MPI_Status status;
  void* data = buffer;
  if (lost(MPI_Recv(pushed ? MPIX_BUFFER_LIBRARY : buffer, kBytes, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                    &status)))
    return 1;
  if (pushed) MPIX_Get_recv_buf(status, &data);
  verify(data, kBytes, seed);
  if (rank == who && strcmp(stage, "after") == 0 && armed && pushed) die(&board->dead);
  if (pushed) MPIX_Release_recv_buf(status, data);
  return 0;
}

static void exchange(unsigned char* buffer, int from, int to, int messages) {
  for (int i = 0; i < messages; ++i) {
    if (rank == from) {
      put(buffer, kBytes, i);
      if (lost(MPI_Send(buffer, kBytes, MPI_BYTE, to, 0, MPI_COMM_WORLD)))
        fail("a living receiver is lost", to);
    } else if (rank == to && get(buffer, from, 0, i)) {
      fail("a living sender is lost", from);
    }
  }
}

/* The first ones are pushed, the last one has to be asked for. */
static void send_pushed(unsigned char* buffer) {
  enum { kAhead = 3 };
  MPI_Request requests[kAhead];
  int failed = 0;
  put(buffer, kBytes, 99);
  for (int i = 0; i < kAhead; ++i)
    failed |= lost(MPI_Isend(buffer, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]));
  board->begun = 1;
  for (int i = 0; i < kAhead; ++i) failed |= lost(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  if (who == 0) fail("it has pushed nothing", chunks);
  if (!failed) fail("the dead have received", who);
}
static void receive_pushed(unsigned char* buffer) {
  if (who == 1) {
    wait_until(&board->begun);
    if (strcmp(stage, "start") == 0) die(&board->dead);
  }
  while (!get(buffer, 0, 0, 99)) {
  }
}

static void send(unsigned char* buffer, int away) {
  MPI_Request request;
  int code;
  put(buffer, kBytes, 99);
  code = MPI_Isend(buffer, kBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
  if (strcmp(stage, "start") == 0 && who == 0) {
    wait_until(&board->begun);
    die(&board->dead);
  }
  if (away) wait_until(&board->dead);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (lost(code) != (who == 1)) fail("the send has ended the wrong way", code);
}

/* What has come is right; and once the receive has ended, in whatever way, nobody writes to its buffer. */
static void receive(unsigned char* buffer) {
  memset(buffer, 0, kBytes);
  const int gone = lost(MPI_Recv(buffer, kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (gone && who != 0) fail("the receive has ended the wrong way", gone);
  if (!gone) verify(buffer, kBytes, 99);
  put(buffer, kBytes, 7);
  usleep((useconds_t)delay_ms * 1000 + 100000);
  verify(buffer, kBytes, 7);
}

int main(int argc, char** argv) {
  unsigned char* buffer = NULL;
  MPI_Comm node;
  MPI_Win win;
  MPI_Aint bytes;
  int size, unit, token = 0;
  if (argc < 6) return 2;
  pushed = argc > 6;
  who = strcmp(argv[1], "sender") == 0 ? 0 : strcmp(argv[1], "receiver") == 0 ? 1 : 2;
  stage = argv[2];
  nth = atoi(argv[3]);
  delay_ms = atol(argv[5]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Win_allocate_shared(sizeof *board, 1, MPI_INFO_NULL, node, &bytes, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &board);
  MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &buffer);
  put(buffer, kBytes, rank);
  /* So that everybody has mapped what he needs of everybody's. */
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      if (from != to) exchange(buffer, from, to, kMessages);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  armed = 1;
  if (rank == 0) pushed ? send_pushed(buffer) : send(buffer, atoi(argv[4]));
  if (rank == 1) pushed ? receive_pushed(buffer) : receive(buffer);
  if (rank == 2 &&
      !lost(MPI_Recv(&token, 1, MPI_INT, who == 0 ? 0 : 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) && who != 2)
    fail("a message came from the dead", token);
  armed = 0;
  if (size > 2) exchange(buffer, who == 0 ? 1 : 0, who == 2 ? 1 : 2, kMessages);
  printf("rank %d goes on\n", rank);
  fflush(stdout);
  MPI_Free_mem(buffer);
  MPI_Finalize(); /* the window is the dead one's too: it goes with the process */
  return 0;
}
