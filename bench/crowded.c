/* SPDX-License-Identifier: BSD-3-Clause */
/* What waiting costs. Usage: crowded wait|ring|allreduce
 *
 * wait: every rank waits a second for rank 0: CPU time that a waiting rank takes meanwhile, mean and most.
 * ring: a token goes around all ranks: time of a hop. allreduce: of a double, time of a call. */
#include "bench.h"

#include <mpi.h>
#include <sys/resource.h>

static double cpu_ms(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

static void wait_a_second(int rank, int size) {
  double used, sum = 0, most = 0;
  int token = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  used = cpu_ms();
  if (rank == 0) {
    sleep(1);
    for (int to = 1; to < size; ++to) MPI_Send(&token, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  used = rank == 0 ? 0 : cpu_ms() - used;
  MPI_Reduce(&used, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&used, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("wait-mean %d %.4f ms\n", size, sum / (size - 1));
  printf("wait-most %d %.4f ms\n", size, most);
}

static void hop(int rank, int size) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  long token = 0;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_LONG, next, 1, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_LONG, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_LONG, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_LONG, next, 1, MPI_COMM_WORLD);
  }
}

/* Rounds until 0.3 s are over; rank 0 decides. */
static void repeat(const char* name, int rank, int size, int per_call) {
  double in = 1, out = 0, begun = MPI_Wtime();
  long calls = 0;
  int going = 1;
  while (going) {
    for (int i = 0; i < 20; ++i, ++calls) {
      if (per_call == 1) {
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      } else {
        hop(rank, size);
      }
    }
    going = MPI_Wtime() - begun < 0.3;
    MPI_Bcast(&going, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const double each_us = (MPI_Wtime() - begun) / (double)(calls * per_call) * 1e6;
  if (rank == 0) printf("%s %d %.4f us\n", name, size, each_us);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "ring";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "wait") == 0) wait_a_second(rank, size);
  if (strcmp(what, "ring") == 0) repeat("ring", rank, size, size);
  if (strcmp(what, "allreduce") == 0) repeat("allreduce", rank, size, 1);
  MPI_Finalize();
  return 0;
}
