/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init and MPI_Finalize, nothing else. bench/compare takes the time of the whole launch from outside.
 */
#include "bench.h"

#include <mpi.h>

int main(int argc, char** argv) {
  const double start = bench_seconds();
  MPI_Init(&argc, &argv);
  const double ready = bench_seconds();
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Finalize();
  if (me == 0) {
    bench_print("init", 0, (ready - start) * 1e3, "ms");
    bench_print("finalize", 0, (bench_seconds() - ready) * 1e3, "ms");
  }
  return 0;
}
