/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of one blocking collective among all ranks: the slowest rank's, the median over batches.
 * Usage: collectives [largest] */
#include "bench.h"

#include <mpi.h>

enum { kBatches = 9 };

static int ranks, me;
static unsigned char *in, *out;

static void barrier(int bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int bytes) { MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(int bytes) { MPI_Reduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(int bytes) { MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void allgather(int bytes) { MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*run)(int bytes);
  int blocks; /* whether a buffer has one block of `bytes` for each rank */
} kCollectives[] = {{"barrier", barrier, 0},     {"bcast", bcast, 0},         {"reduce", reduce, 0},
                    {"allreduce", allreduce, 0}, {"allgather", allgather, 1}, {"alltoall", alltoall, 1}};

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

/* As many calls as take about 2 ms, the same number on all ranks. */
static int rounds_for(void (*run)(int), int bytes) {
  batch(run, bytes, 4); /* what the first calls set up is not what a call takes */
  const double each = batch(run, bytes, 4) / 4;
  int rounds = each < 1e-6 ? 2000 : (int)(2e-3 / each);
  if (rounds < 4) rounds = 4;
  MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return rounds;
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
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const int bytes = sizes[s];
      double batches[kBatches];
      if ((long)bytes * (kCollectives[c].blocks ? ranks : 1) > largest) continue;
      if (kCollectives[c].run == barrier && s > 0) continue;
      const int rounds = rounds_for(kCollectives[c].run, bytes);
      for (int b = 0; b < kBatches; ++b)
        batches[b] = batch(kCollectives[c].run, bytes, rounds) / rounds * 1e6;
      if (me == 0)
        bench_print(kCollectives[c].name, kCollectives[c].run == barrier ? 0 : bytes,
                    bench_median(batches, kBatches), "us");
    }
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
