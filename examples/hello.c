/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank says who it is; the sum over all ranks shows that they can talk to each other. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);

  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  char node[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(node, &length);
  printf("hello from rank %d of %d on %s\n", rank, size, node);

  int ones = 0, one = 1;
  MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  MPI_Finalize();
  if (ones != size) {
    fprintf(stderr, "rank %d: %d ranks answered, expected %d\n", rank, ones, size);
    return 1;
  }
  return 0;
}
