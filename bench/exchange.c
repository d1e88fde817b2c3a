/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of one message each way between ranks 0 and 1 (MPI_Sendrecv): who sends and receives at the same time
 * waits for both. */
#include "bench.h"

#include <mpi.h>

enum { kBatches = 11, kLargest = 4194304 };

/* Microseconds of one exchange. */
static double batch(int me, unsigned char* out, unsigned char* in, int bytes, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i)
    MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - me, 1, in, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  return (bench_seconds() - start) / rounds * 1e6;
}

int main(int argc, char** argv) {
  static const int sizes[] = {8,     1024,   4096,   8192,   16384,   32768,
                              65536, 131072, 262144, 524288, 1048576, 4194304};
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    fprintf(stderr, "exchange: for two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bench_pin(me);
  unsigned char* out = bench_buffer(kLargest);
  unsigned char* in = bench_buffer(kLargest);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int bytes = sizes[s], rounds = bytes <= 8192 ? 2000 : 8388608 / bytes + 8;
    double batches[kBatches];
    batch(me, out, in, bytes, rounds / 4 + 4);
    for (int b = 0; b < kBatches; ++b) batches[b] = batch(me, out, in, bytes, rounds);
    if (me == 0) bench_print("exchange", bytes, bench_median(batches, kBatches), "us");
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
