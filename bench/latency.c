/* SPDX-License-Identifier: BSD-3-Clause */
/* One-way latency of a ping-pong between ranks 0 and 1; the median over batches. Usage: latency [largest
 * [alloc_mem | only]]. alloc_mem: the buffers are MPI_Alloc_mem's; only: no size but the largest. */
#include "bench.h"

#include <mpi.h>

enum { kBatches = 11 };

static double one_way_us(int me, unsigned char* buffer, int bytes, int rounds) {
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i) {
    if (me == 0) {
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
  return (bench_seconds() - start) / rounds / 2 * 1e6;
}

int main(int argc, char** argv) {
  static const int sizes[] = {0,    1,     8,     64,    256,    1024,    2048,   4096,
                              8192, 16384, 32768, 65536, 262144, 1048576, 4194304};
  MPI_Init(&argc, &argv);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const int largest = argc > 1 ? atoi(argv[1]) : 4194304;
  bench_pin(me);
  const int from_mpi = argc > 2 && strcmp(argv[2], "alloc_mem") == 0;
  const int only = argc > 2 && strcmp(argv[2], "only") == 0;
  unsigned char* buffer = NULL;
  if (from_mpi)
    MPI_Alloc_mem(largest, MPI_INFO_NULL, &buffer);
  else
    buffer = bench_buffer((size_t)largest);
  memset(buffer, 1, (size_t)largest);
  for (unsigned s = 0; me < 2 && s < sizeof sizes / sizeof *sizes && sizes[s] <= largest; ++s) {
    const int bytes = sizes[s];
    if (only && bytes != largest) continue;
    const int rounds = bytes <= 4096 ? 1500 : 1500 / (bytes / 4096) + 4;
    double batches[kBatches];
    one_way_us(me, buffer, bytes, rounds); /* warm */
    for (int b = 0; b < kBatches; ++b) batches[b] = one_way_us(me, buffer, bytes, rounds);
    if (me == 0) bench_print("latency", bytes, bench_median(batches, kBatches), "us");
  }
  if (from_mpi)
    MPI_Free_mem(buffer);
  else
    free(buffer);
  MPI_Finalize();
  return 0;
}
