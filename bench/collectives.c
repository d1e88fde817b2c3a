/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of one blocking collective among all ranks: the slowest rank's, the median over batches.
 * Usage: collectives [largest [name...]]     (without names: the first six) */
#include "bench.h"

#include <mpi.h>
#include <string.h>

enum { kBatches = 9 };
static const double kLeastSeconds = 5e-3;

static int ranks, me;
static unsigned char *in, *out;

static void barrier(int bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int bytes) { MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
/* Of a call that only some wait in, a series tells how far these can be behind. Here nobody can be. */
static void bcast_met(int bytes) {
  bcast(bytes);
  barrier(0);
}
static void reduce(int bytes) { MPI_Reduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void reduce_met(int bytes) {
  reduce(bytes);
  barrier(0);
}
static void allreduce(int bytes) { MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void allgather(int bytes) { MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void scan(int bytes) { MPI_Scan(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void exscan(int bytes) { MPI_Exscan(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(int bytes) {
  MPI_Reduce_scatter_block(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Equal blocks for the functions that take unequal ones. */
static int counts[64], places[64];
static void set_blocks(int bytes) {
  for (int i = 0; i < ranks; ++i) {
    counts[i] = bytes;
    places[i] = i * bytes;
  }
}
static void gatherv(int bytes) {
  set_blocks(bytes);
  MPI_Gatherv(in, bytes, MPI_BYTE, out, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatterv(int bytes) {
  set_blocks(bytes);
  MPI_Scatterv(in, counts, places, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgatherv(int bytes) {
  set_blocks(bytes);
  MPI_Allgatherv(in, bytes, MPI_BYTE, out, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoallv(int bytes) {
  set_blocks(bytes);
  MPI_Alltoallv(in, counts, places, MPI_BYTE, out, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

enum { kUsual = 6 };
static const struct {
  const char* name;
  void (*run)(int bytes);
  int blocks; /* whether a buffer has one block of `bytes` for each rank */
} kCollectives[] = {
    {"barrier", barrier, 0},     {"bcast", bcast, 0},         {"reduce", reduce, 0},
    {"allreduce", allreduce, 0}, {"allgather", allgather, 1}, {"alltoall", alltoall, 1},
    {"scan", scan, 0},           {"exscan", exscan, 0},       {"reduce_scatter", reduce_scatter, 1},
    {"gatherv", gatherv, 1},     {"scatterv", scatterv, 1},   {"allgatherv", allgatherv, 1},
    {"alltoallv", alltoallv, 1}, {"bcast_met", bcast_met, 0}, {"reduce_met", reduce_met, 0}};

static int wanted(unsigned which, int names, char** name) {
  for (int i = 0; i < names; ++i) {
    if (strcmp(name[i], kCollectives[which].name) == 0) return 1;
  }
  return names == 0 && which < kUsual;
}

/* Seconds of `rounds` calls on the slowest rank. */
static double batch(void (*run)(int), int bytes, int rounds) {
  double mine, slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  mine = bench_seconds();
  for (int i = 0; i < rounds; ++i) run(bytes);
  mine = bench_seconds() - mine;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* As many calls as take at least 5 ms, the same number on all ranks. Where ranks share cores, the time of
 * fewer would be that of their turns: they leave the barrier before it one after another. Calls of which one
 * alone takes as long are not repeated. */
static int rounds_for(void (*run)(int), int bytes) {
  enum { kMost = 100000 };
  int rounds = 4;
  double one;
  batch(run, bytes, 2); /* what the first calls set up is not what a call takes */
  one = batch(run, bytes, 1);
  if (one >= kLeastSeconds && batch(run, bytes, 1) >= kLeastSeconds) return 1;
  while (rounds < kMost && batch(run, bytes, rounds) < kLeastSeconds) rounds *= 2;
  return rounds;
}

/* The median of up to 9 batches, of 3 at least: fewer where they take longer than a second. */
static double call_us(void (*run)(int), int bytes) {
  double batches[kBatches], all = 0;
  int done = 0;
  const int rounds = rounds_for(run, bytes);
  while (done < kBatches && (done < 3 || all < 1)) {
    const double took = batch(run, bytes, rounds);
    all += took;
    batches[done++] = took / rounds * 1e6;
  }
  return bench_median(batches, done);
}

int main(int argc, char** argv) {
  static const int sizes[] = {8, 1024, 16384, 65536, 262144, 1048576};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int largest = argc > 1 ? atoi(argv[1]) : 1048576;
  bench_pin(me);
  in = bench_buffer((size_t)largest);
  out = bench_buffer((size_t)largest);
  for (unsigned c = 0; c < sizeof kCollectives / sizeof *kCollectives; ++c) {
    if (!wanted(c, argc > 2 ? argc - 2 : 0, argv + 2)) continue;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const int bytes = sizes[s];
      if ((long)bytes * (kCollectives[c].blocks ? ranks : 1) > largest) continue;
      if (kCollectives[c].run == barrier && s > 0) continue;
      const double took = call_us(kCollectives[c].run, bytes);
      if (me == 0) bench_print(kCollectives[c].name, kCollectives[c].run == barrier ? 0 : bytes, took, "us");
    }
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
