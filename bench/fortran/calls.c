/* SPDX-License-Identifier: BSD-3-Clause */
/* The C side of bench/fortran. `calls rank|send N` makes N calls. `calls vector N` sends every second double
 * of 2 MiB N times between two ranks and prints the time of one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDoubles = 131072 };

static double numbers[2 * kDoubles];

static void vector(int calls) {
  MPI_Datatype every_second;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(kDoubles, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(numbers, 1, every_second, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(numbers, 1, every_second, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.3f\n", (MPI_Wtime() - begin) / calls * 1e6);
  MPI_Type_free(&every_second);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int calls = argc > 2 ? atoi(argv[2]) : 1;
  int rank;
  MPI_Init(&argc, &argv);
  if (strcmp(what, "rank") == 0)
    for (int i = 0; i < calls; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "send") == 0)
    for (int i = 0; i < calls; ++i) MPI_Send(numbers, 100, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  if (strcmp(what, "vector") == 0) vector(calls);
  MPI_Finalize();
  return 0;
}
