/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends 200,000 bytes to the next one and receives as much from the one before, 20 times.
 * halves sendrecv|isendrecv|waitall [returns]. With `returns` errors are returned; a rank that gets one
 * prints it, and aborts with code 42. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 200000, kRounds = 20 };
static char out[kBytes], in[kBytes];

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (argc > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int code = MPI_SUCCESS;
    if (strcmp(argv[1], "sendrecv") == 0) {
      code = MPI_Sendrecv(out, kBytes, MPI_CHAR, next, 0, in, kBytes, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                          statuses);
    } else if (strcmp(argv[1], "isendrecv") == 0) {
      MPI_Isendrecv(out, kBytes, MPI_CHAR, next, 0, in, kBytes, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                    requests);
      code = MPI_Wait(requests, statuses);
    } else {
      MPI_Irecv(in, kBytes, MPI_CHAR, before, 0, MPI_COMM_WORLD, requests);
      MPI_Isend(out, kBytes, MPI_CHAR, next, 0, MPI_COMM_WORLD, requests + 1);
      code = MPI_Waitall(2, requests, statuses);
      if (code != MPI_SUCCESS)
        printf("receive %s, send %s\n", statuses[0].MPI_ERROR == MPI_ERR_PENDING ? "pending" : "over",
               statuses[1].MPI_ERROR == MPI_SUCCESS ? "done" : "failed");
    }
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 42);
  }
  if (rank == 0) printf("%d rounds\n", kRounds);
  MPI_Finalize();
  return 0;
}
