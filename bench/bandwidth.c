/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth between ranks 0 and 1 with a window of nonblocking messages, one way and both ways; with the
 * argument `one-way` that only; with `alloc_mem` the buffers are MPI_Alloc_mem's. Over a slow link a size
 * takes fewer batches: about 2 seconds. */
#include "bench.h"

#include <mpi.h>

enum { kWindow = 32, kBatches = 11 };
static const double kSecondsPerSize = 2.0;

/* Seconds for one window and the answer that ends it. */
static double window(int me, unsigned char* out, unsigned char* in, int bytes, int both) {
  MPI_Request requests[2 * kWindow];
  int n = 0;
  char token = 0;
  const double start = bench_seconds();
  if (me == 1 || both)
    for (int i = 0; i < kWindow; ++i)
      MPI_Irecv(in, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD, &requests[n++]);
  if (me == 0 || both)
    for (int i = 0; i < kWindow; ++i)
      MPI_Isend(out, bytes, MPI_BYTE, 1 - me, 1, MPI_COMM_WORLD, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  if (me == 0)
    MPI_Recv(&token, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(&token, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
  return bench_seconds() - start;
}

/* How many batches of `windows` windows fit into the time for one size, where one took `seconds`: rank 0's
 * view, at both. */
static int batches_in_time(int me, double seconds, int windows) {
  const double most = kSecondsPerSize / (seconds * windows);
  int count = most >= kBatches ? kBatches : most < 1.0 ? 1 : (int)most;
  if (me == 0)
    MPI_Send(&count, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  else
    MPI_Recv(&count, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return count;
}

static int has(int argc, char** argv, const char* word) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

int main(int argc, char** argv) {
  static const int sizes[] = {1024, 4096, 8192, 16384, 65536, 262144, 1048576, 4194304};
  MPI_Init(&argc, &argv);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  bench_pin(me);
  const int from_mpi = has(argc, argv, "alloc_mem");
  unsigned char *out = NULL, *in = NULL;
  if (from_mpi) {
    MPI_Alloc_mem(4194304, MPI_INFO_NULL, &out);
    MPI_Alloc_mem(4194304, MPI_INFO_NULL, &in);
    memset(out, 1, 4194304);
    memset(in, 1, 4194304);
  } else {
    out = bench_buffer(4194304);
    in = bench_buffer(4194304);
  }
  const int directions = has(argc, argv, "one-way") ? 1 : 2;
  for (int both = 0; me < 2 && both < directions; ++both)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const int bytes = sizes[s], windows = bytes < 65536 ? 20 : bytes < 1048576 ? 5 : 2;
      double batches[kBatches];
      const int count = batches_in_time(me, window(me, out, in, bytes, both), windows);
      for (int b = 0; b < count; ++b) {
        double seconds = 0.0;
        for (int w = 0; w < windows; ++w) seconds += window(me, out, in, bytes, both);
        batches[b] = (double)windows * kWindow * bytes * (both ? 2 : 1) / seconds / 1e9;
      }
      if (me == 0)
        bench_print(both ? "bibandwidth" : "bandwidth", bytes, bench_median(batches, count), "GB/s");
    }
  if (from_mpi) {
    MPI_Free_mem(in);
    MPI_Free_mem(out);
  } else {
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
