/* SPDX-License-Identifier: BSD-3-Clause */
/* Message rate of 8-byte messages: rank r in the lower half sends to rank r + n/2, all pairs at once. */
#include "bench.h"

#include <mpi.h>

enum { kWindow = 128, kBatches = 15, kBytes = 8 };

static void window(int sends, int peer, unsigned char* buffer) {
  MPI_Request requests[kWindow];
  char token = 0;
  for (int i = 0; i < kWindow; ++i) {
    if (sends)
      MPI_Isend(buffer + i * kBytes, kBytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(buffer + i * kBytes, kBytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  if (sends)
    MPI_Recv(&token, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(&token, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int pairs = size / 2, windows = size > 2 ? 20 : 100;
  const int sends = me < pairs, peer = sends ? me + pairs : me - pairs;
  double batches[kBatches];
  unsigned char* buffer = bench_buffer(kWindow * kBytes);
  if (size == 2) bench_pin(me); /* more ranks than CPUs are left to the scheduler */
  for (int b = -1; b < kBatches; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_seconds();
    for (int w = 0; w < windows; ++w) window(sends, peer, buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b >= 0) batches[b] = (double)windows * kWindow * pairs / (bench_seconds() - start) / 1e6;
  }
  if (me == 0) bench_print("rate", pairs, bench_median(batches, kBatches), "M/s");
  free(buffer);
  MPI_Finalize();
  return 0;
}
