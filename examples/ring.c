/* SPDX-License-Identifier: BSD-3-Clause */
/* A token travels around all ranks; each rank adds one. Usage: ring [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  long token = 0;
  const double start = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      /* With one rank the message goes to itself, so the receive has to be there already. */
      MPI_Request receive;
      long back;
      ++token;
      MPI_Irecv(&back, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, &receive);
      MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      token = back;
    } else {
      MPI_Recv(&token, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++token;
      MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
    }
  }
  const double seconds = MPI_Wtime() - start;

  int status = 0;
  if (rank == 0) {
    const long hops = (long)rounds * size;
    printf("%d rounds over %d ranks: %ld hops, %.3f us each\n", rounds, size, token,
           seconds / (double)hops * 1e6);
    if (token != hops) {
      fprintf(stderr, "the token came back as %ld, expected %ld\n", token, hops);
      status = 1;
    }
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
