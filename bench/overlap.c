/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a nonblocking operation is hidden behind a computation that calls nothing of MPI, and what an
 * exchange of 8 bytes costs in the same mode. For two ranks.
 *
 * alone:   start and wait.
 * both:    start, compute for twice that time at least, wait.
 * hidden:  100 * (alone + computation - both) / alone: 100 where the operation costs nothing more, 0 where it
 *          might as well have begun after the computation, less where the computation itself became slower.
 *
 * The computation is an amount of work, not a time, so a thread that takes the core away from it shows. In
 * `isend` and `irecv` rank 0 computes and rank 1 waits in a blocking call; in `iallreduce` both compute. */
#include "bench.h"

#include <mpi.h>

enum { kRounds = 15, kLargest = 4194304, kShortest_us = 200 };

static int me;
static unsigned char *out, *in;

/* Additions that depend on each other: no memory, no vectors, nothing that the compiler can leave out. */
static double compute(long additions) {
  double sum = me;
  for (long i = 0; i < additions; ++i) {
    sum += 1e-9;
    __asm__ volatile("" : "+x"(sum));
  }
  return sum;
}

static volatile double kept;

static double seconds_of(long additions) {
  double batches[kRounds];
  for (int i = 0; i < kRounds; ++i) {
    const double start = bench_seconds();
    kept = compute(additions);
    batches[i] = bench_seconds() - start;
  }
  return bench_median(batches, kRounds);
}

/* One operation of rank 0; rank 1 takes its part. */
struct way {
  const char* name;
  void (*start)(int bytes, MPI_Request* request);
  int both_compute;
};

static void start_isend(int bytes, MPI_Request* request) {
  if (me == 0)
    MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, request);
  else
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_irecv(int bytes, MPI_Request* request) {
  if (me == 0)
    MPI_Irecv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, request);
  else
    MPI_Ssend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

static void start_iallreduce(int bytes, MPI_Request* request) {
  MPI_Iallreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

/* The median time of start, `additions` and wait, in seconds. */
static double timed(const struct way* way, int bytes, long additions) {
  double rounds[kRounds];
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_seconds();
    way->start(bytes, &request);
    if (me == 0 || way->both_compute) kept = compute(additions);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    rounds[i] = bench_seconds() - start;
  }
  return bench_median(rounds, kRounds);
}

static void measure(const struct way* way, int bytes, double per_second) {
  timed(way, bytes, 0); /* warm */
  double alone = timed(way, bytes, 0);
  MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const double wanted = 2 * alone > kShortest_us * 1e-6 ? 2 * alone : kShortest_us * 1e-6;
  const long additions = (long)(wanted * per_second);
  MPI_Barrier(MPI_COMM_WORLD);
  const double computation = seconds_of(additions);
  const double both = timed(way, bytes, additions);
  char name[64];
  if (me != 0) return;
  snprintf(name, sizeof name, "hidden-%s", way->name);
  bench_print(name, bytes, 100 * (alone + computation - both) / alone, "%");
}

/* Microseconds one way of 8 bytes. */
static double pingpong(int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i) {
    if (me == 0) MPI_Send(out, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_BYTE, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(out, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  }
  return (bench_seconds() - start) / rounds / 2 * 1e6;
}

int main(int argc, char** argv) {
  static const struct way kWays[] = {
      {"isend", start_isend, 0}, {"irecv", start_irecv, 0}, {"iallreduce", start_iallreduce, 1}};
  static const int kSizes[] = {8, 65536, 1048576, kLargest};
  double batches[kRounds];
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    fprintf(stderr, "overlap: for two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bench_pin(me);
  out = bench_buffer(kLargest);
  in = bench_buffer(kLargest);
  memset(out, 0, kLargest); /* doubles */
  const double per_second = 1e6 / seconds_of(1000000);
  for (unsigned w = 0; w < sizeof kWays / sizeof *kWays; ++w)
    for (unsigned s = 0; s < sizeof kSizes / sizeof *kSizes; ++s) measure(&kWays[w], kSizes[s], per_second);
  pingpong(2000);
  for (int b = 0; b < kRounds; ++b) batches[b] = pingpong(2000);
  if (me == 0) bench_print("pingpong", 8, bench_median(batches, kRounds), "us");
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
