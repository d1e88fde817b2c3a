/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends 200,000 bytes to the next one and receives as much from the one before, 20 times; or all
 * exchange as much with each other.
 * halves sendrecv|isendrecv|waitall|alltoall|ialltoall|allgather [returns]. With `returns` errors are
 * returned; a rank that gets one prints it, and aborts with code 42. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 200000, kRounds = 20 };
static char out[kBytes], in[kBytes];

/* The calls of all ranks. */
static int together(const char* call, char* from, char* to) {
  MPI_Request request;
  if (strcmp(call, "alltoall") == 0)
    return MPI_Alltoall(from, kBytes, MPI_CHAR, to, kBytes, MPI_CHAR, MPI_COMM_WORLD);
  if (strcmp(call, "allgather") == 0)
    return MPI_Allgather(from, kBytes, MPI_CHAR, to, kBytes, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Ialltoall(from, kBytes, MPI_CHAR, to, kBytes, MPI_CHAR, MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  char* const all_out = calloc(2 * (size_t)size, kBytes);
  char* const all_in = all_out + (size_t)size * kBytes;
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
    } else if (strstr(argv[1], "all") == argv[1] || strcmp(argv[1], "ialltoall") == 0) {
      code = together(argv[1], all_out, all_in);
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
  free(all_out);
  if (rank == 0) printf("%d rounds\n", kRounds);
  MPI_Finalize();
  return 0;
}
