/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends COUNT messages of many lengths with one tag to the next rank, which must receive them in
 * the order sent (MPI 5.0, 3.5: messages are non-overtaking).    usage: order COUNT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 100000

/* Empty, short, up to the eager limit and beyond it. */
static int length_of(int i) {
  static const int lengths[] = {1, 2, 100, 2000, 10, 14000, 1, LONGEST, 3};
  return lengths[i % 9];
}

static unsigned char byte_of(int i, int at) { return (unsigned char)(i * 31 + at * 7); }

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1, rank, size, i, at, k;
  long bad[2] = {0, 0}, all[2];
  static unsigned char out[8][LONGEST + sizeof(int)], in[LONGEST + sizeof(int)];
  MPI_Request requests[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < count; i += 8) {
    int batch = count - i < 8 ? count - i : 8;
    for (k = 0; k < batch; ++k) {
      int* head = (int*)out[k];
      int length = length_of(i + k);
      *head = i + k;
      for (at = 0; at < length; ++at) out[k][sizeof(int) + at] = byte_of(i + k, at);
      MPI_Isend(out[k], length + (int)sizeof(int), MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD,
                &requests[k]);
    }
    for (k = 0; k < batch; ++k) {
      int got, source = k % 2 ? MPI_ANY_SOURCE : (rank + size - 1) % size;
      MPI_Status status;
      MPI_Recv(in, sizeof in, MPI_BYTE, source, 7, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &got);
      bad[0] += *(int*)in != i + k;
      bad[1] += got != length_of(*(int*)in) + (int)sizeof(int);
      for (at = 0; at + (int)sizeof(int) < got; ++at)
        bad[1] += in[sizeof(int) + at] != byte_of(*(int*)in, at);
    }
    MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Reduce(bad, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages, %ld inversions, %ld wrong bytes\n", count * size, all[0], all[1]);
  MPI_Finalize();
  return bad[0] + bad[1] != 0;
}
