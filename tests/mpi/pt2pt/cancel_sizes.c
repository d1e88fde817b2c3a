/* SPDX-License-Identifier: BSD-3-Clause */
/* A cancelled send of any length and mode is either cancelled or received, and nothing of it is left
 * (MPI 5.0, 3.8.4). */
#include "check.h"

static int next, previous;

static void check_cancel(int bytes, int tag, int synchronous) {
  char* const data = calloc(1, (size_t)bytes + 1);
  MPI_Request request;
  MPI_Status status;
  int cancelled, sent, coming, there;
  if (synchronous) {
    OK(MPI_Issend(data, bytes, MPI_CHAR, next, tag, MPI_COMM_WORLD, &request));
  } else {
    OK(MPI_Isend(data, bytes, MPI_CHAR, next, tag, MPI_COMM_WORLD, &request));
  }
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &cancelled));
  sent = !cancelled;
  OK(MPI_Sendrecv(&sent, 1, MPI_INT, next, 0, &coming, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &status));
  if (coming) OK(MPI_Recv(data, bytes, MPI_CHAR, previous, tag, MPI_COMM_WORLD, &status));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Iprobe(previous, tag, MPI_COMM_WORLD, &there, &status));
  CHECK(!there);
  free(data);
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 1, 1000, 5000, 100000, 3000000};
  MPI_Init(&argc, &argv);
  const int size = world_size();
  next = (world_rank() + 1) % size;
  previous = (world_rank() + size - 1) % size;
  int tag = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    check_cancel(sizes[i], ++tag, 0);
    check_cancel(sizes[i], ++tag, 1);
  }
  return finish();
}
