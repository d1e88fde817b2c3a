/* SPDX-License-Identifier: BSD-3-Clause */
/* Names between two ranks, with the MPI library that it is built with: rank 0 publishes, rank 1 looks up.
 * What must be refused is: a second name like it, a name of somebody else, one that is not there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "%s\n", what);
  exit(3);
}

int main(int argc, char** argv) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    expect(MPI_Publish_name("ocean", MPI_INFO_NULL, "a port of rank 0") == MPI_SUCCESS, "MPI_Publish_name");
    expect(MPI_Publish_name("ocean", MPI_INFO_NULL, "another") != MPI_SUCCESS, "published twice");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    expect(MPI_Lookup_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "MPI_Lookup_name");
    expect(strcmp(port, "a port of rank 0") == 0, port);
    expect(MPI_Lookup_name("atmosphere", MPI_INFO_NULL, port) != MPI_SUCCESS, "found what is not there");
    expect(MPI_Unpublish_name("ocean", MPI_INFO_NULL, port) != MPI_SUCCESS, "withdrew the name of rank 0");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    expect(MPI_Unpublish_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "MPI_Unpublish_name");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    expect(MPI_Lookup_name("ocean", MPI_INFO_NULL, port) != MPI_SUCCESS, "found what was withdrawn");
  MPI_Finalize();
  printf("rank %d: names work\n", rank);
  return 0;
}
