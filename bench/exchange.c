/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of messages between ranks 0 and 1. Usage: exchange [question] [options]
 *   (none)   one message each way at the same time (MPI_Sendrecv): who sends and receives waits for both
 *   mixed    the same with sizes that change from message to message, and each size alone
 *   late     one message; its sender starts it and is then outside of MPI for a while. From the start to
 *            the end of the receive, beside `copy`: the receiver copies as much by itself out of memory that
 *            both see
 *   idle     messages of rank 0 while all ranks beyond the first two wait for one
 *
 *   --memory private|shared   buffers from malloc, or from MPI_Alloc_mem
 *   --managed                 receive buffers are the library's, where it has them (mpix.h)
 *
 * What arrives is looked at: its first and last word. */
#include "bench.h"

#include <mpi.h>
#include <stdatomic.h>

#include "receive_buffer.h"

enum { kBatches = 11, kLargest = 4194304, kLate = 41 };

struct options {
  const char* question;
  int shared, managed;
};
static struct options asked = {"", 0, 0};
static int me;
static unsigned char *out, *in;

static void fail_with(const char* text) {
  fprintf(stderr, "exchange: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char* memory(size_t bytes) {
  unsigned char* made = NULL;
  if (!asked.shared) return bench_buffer(bytes);
  if (MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &made) != MPI_SUCCESS) fail_with("no memory");
  memset(made, 1, bytes);
  return made;
}

/* The first and the last word of a message say which one it is. */
static void mark(unsigned char* buffer, int bytes, int number) {
  memcpy(buffer, &number, sizeof number);
  memcpy(buffer + bytes - sizeof number, &number, sizeof number);
}
static void check(const unsigned char* buffer, int bytes, int number) {
  int first, last;
  memcpy(&first, buffer, sizeof first);
  memcpy(&last, buffer + bytes - sizeof last, sizeof last);
  if (first != number || last != number) fail_with("another message has come");
}

static void exchange(int bytes, int number) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  mark(out, bytes, number * 2 + me);
  if (!asked.managed) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - me, 1, in, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return check(in, bytes, number * 2 + 1 - me);
  }
  bench_receive(in, bytes, 1 - me, asked.managed, &requests[0]);
  MPI_Isend(out, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  check(bench_received(in, &statuses[0], asked.managed), bytes, number * 2 + 1 - me);
  bench_give_back(&statuses[0], asked.managed);
}

/* Microseconds of one exchange. */
static double batch(int bytes, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i) exchange(bytes, i);
  return (bench_seconds() - start) / rounds * 1e6;
}

static void one_each_way(void) {
  static const int sizes[] = {8,     1024,   4096,   8192,   16384,   32768,
                              65536, 131072, 262144, 524288, 1048576, 4194304};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int bytes = sizes[s], rounds = bytes <= 8192 ? 2000 : 8388608 / bytes + 8;
    double batches[kBatches];
    batch(bytes, rounds / 4 + 4);
    for (int b = 0; b < kBatches; ++b) batches[b] = batch(bytes, rounds);
    if (me == 0) bench_print("exchange", bytes, bench_median(batches, kBatches), "us");
  }
}

/* Sizes in an order that does not repeat for long; the first ten turns are printed one by one. */
static void mixed(void) {
  enum { kSizes = 8, kTurns = 120, kFirst = 10 };
  static const int sizes[kSizes] = {20000, 32768, 50000, 83000, 131072, 262144, 400000, 1048576};
  double turns[kFirst + kTurns], alone = 0;
  for (int turn = 0; turn < kFirst + kTurns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_seconds();
    for (int i = 0; i < kSizes; ++i) exchange(sizes[(i * 3 + turn * 5) % kSizes], turn * kSizes + i);
    turns[turn] = (bench_seconds() - start) / kSizes * 1e6;
    if (me == 0 && turn < kFirst) bench_print("first-mixed", turn + 1, turns[turn], "us");
  }
  for (int s = 0; s < kSizes; ++s) {
    double batches[kBatches];
    for (int b = 0; b < kBatches; ++b) batches[b] = batch(sizes[s], kTurns / kBatches + 1);
    alone += bench_median(batches, kBatches) / kSizes;
  }
  const double changing = bench_median(turns + kFirst, kTurns);
  if (me != 0) return;
  bench_print("mixed", 0, changing, "us");
  bench_print("alone", 0, alone, "us");
  bench_print("regret", 0, 100 * (changing / alone - 1), "%");
}

/* In memory of both: when the message was started, and what a receiver that has only to copy would copy. */
struct both {
  atomic_int started;
  double start;
  unsigned char data[kLargest];
};

/* Microseconds from the start of one message to the end of its receive; rank 1's. */
static double late_message(struct both* both, int bytes, double late_us, int number, int only_copy) {
  MPI_Request request;
  MPI_Status status;
  unsigned char* const from = only_copy ? both->data : out;
  if (me == 0) {
    memset(from, number, (size_t)bytes);
    mark(from, bytes, number);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    both->start = bench_seconds();
    if (!only_copy) MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    atomic_store(&both->started, number);
    while (bench_seconds() < both->start + late_us * 1e-6) {
    }
    if (!only_copy) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 0;
  }
  while (atomic_load(&both->started) != number) {
  }
  if (only_copy) {
    memcpy(in, both->data, (size_t)bytes);
    const double us = (bench_seconds() - both->start) * 1e6;
    check(in, bytes, number);
    return us;
  }
  bench_receive(in, bytes, 0, asked.managed, &request);
  MPI_Wait(&request, &status);
  const double us = (bench_seconds() - both->start) * 1e6;
  check(bench_received(in, &status, asked.managed), bytes, number);
  bench_give_back(&status, asked.managed);
  return us;
}

static void late(void) {
  static const int sizes[] = {131072, 262144, 1048576, 4194304};
  static const double lateness[] = {0, 120, 1000};
  enum { kWays = 4 };
  MPI_Win win;
  MPI_Aint bytes_of;
  int unit, number = 0;
  struct both* both;
  MPI_Win_allocate_shared(me == 0 ? sizeof *both : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &both, &win);
  MPI_Win_shared_query(win, 0, &bytes_of, &unit, &both);
  if (me == 0) memset(both, 0, sizeof *both);
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    double times[kWays][kLate];
    double copy = 0;
    /* Long enough for every way to have been tried: with both there. */
    for (int i = 0; i < 400; ++i) late_message(both, sizes[s], 0, ++number, 0);
    for (int i = 0; i < kLate; ++i)
      for (int way = 0; way < kWays; ++way) {
        ++number;
        times[way][i] = late_message(both, sizes[s], way == 0 ? 0 : lateness[way - 1], number, way == 0);
      }
    for (int way = 0; way < kWays; ++way) {
      char figure[32];
      const double us = bench_median(times[way], kLate);
      if (me != 1) continue;
      if (way == 0)
        snprintf(figure, sizeof figure, "copy");
      else
        snprintf(figure, sizeof figure, "late-%.0f", lateness[way - 1]);
      bench_print(figure, sizes[s], us, "us");
      if (way == 0) {
        copy = us;
      } else {
        snprintf(figure, sizeof figure, "late-%.0f-copies", lateness[way - 1]);
        bench_print(figure, sizes[s], us / copy, "copies");
      }
    }
  }
  MPI_Win_free(&win);
}

/* One way; the others wait in MPI meanwhile. */
static void idle(int ranks) {
  static const int sizes[] = {65536, 262144, 1048576, 4194304};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int bytes = sizes[s], rounds = 67108864 / bytes + 8;
    double batches[kBatches];
    for (int b = -2; b < kBatches; ++b) {
      int token = 0;
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = bench_seconds();
      for (int i = 0; i < rounds && me < 2; ++i) {
        MPI_Request request;
        MPI_Status status;
        if (me == 0) {
          mark(out, bytes, i);
          MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
          bench_receive(in, bytes, 0, asked.managed, &request);
          MPI_Wait(&request, &status);
          check(bench_received(in, &status, asked.managed), bytes, i);
          bench_give_back(&status, asked.managed);
        }
      }
      if (b >= 0) batches[b] = (bench_seconds() - start) / rounds * 1e6;
      for (int other = 2; other < ranks && me == 1; ++other)
        MPI_Send(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
      if (me >= 2) MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == 1) bench_print("idle", bytes, bench_median(batches, kBatches), "us");
  }
}

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--managed") == 0)
      asked.managed = 1;
    else if (strcmp(argv[i], "--memory") == 0 && i + 1 < argc)
      asked.shared = strcmp(argv[++i], "shared") == 0;
    else if (argv[i][0] != '-')
      asked.question = argv[i];
    else
      fail_with("an option is unknown");
  }
  const char* const question = asked.question;
  if (ranks < 2 || (ranks > 2 && strcmp(question, "idle") != 0))
    fail_with("for two ranks; idle: for two or more");
  if (asked.managed && !BENCH_MANAGED) fail_with("this MPI has no library-managed buffers");
  bench_pin(me);
  out = memory(kLargest);
  in = memory(kLargest);
  if (question[0] == '\0')
    one_each_way();
  else if (strcmp(question, "mixed") == 0)
    mixed();
  else if (strcmp(question, "late") == 0)
    late();
  else if (strcmp(question, "idle") == 0)
    idle(ranks);
  else
    fail_with("a question is unknown: mixed, late, idle");
  if (asked.shared) {
    MPI_Free_mem(in);
    MPI_Free_mem(out);
  } else {
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
