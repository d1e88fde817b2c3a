/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank exchanges with every other at once, small and large, the partners in a different order on each
 * rank (MPI-4, 3.7). */
#include "check.h"

static void round_of(int bytes) {
  const int me = world_rank(), size = world_size();
  unsigned char* out = malloc((size_t)bytes * (size_t)size);
  unsigned char* in = malloc((size_t)bytes * (size_t)size);
  MPI_Request* requests = malloc(2 * (size_t)size * sizeof(MPI_Request));
  for (int k = 0; k < size; ++k) {
    const int from = (me + k) % size;
    OK(MPI_Irecv(in + (size_t)from * (size_t)bytes, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[k]));
  }
  for (int k = 0; k < size; ++k) {
    const int to = (me + size - k) % size;
    fill(out + (size_t)to * (size_t)bytes, (size_t)bytes, me * 64 + to);
    OK(MPI_Isend(out + (size_t)to * (size_t)bytes, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD,
                 &requests[size + k]));
  }
  OK(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
  for (int from = 0; from < size; ++from)
    CHECK_EQ(first_difference(in + (size_t)from * (size_t)bytes, (size_t)bytes, from * 64 + me), -1);
  free(requests);
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const int sizes[] = {1, 64, 5000, 65536, 700001};
  for (int repeat = 0; repeat < 5; ++repeat)
    for (int s = 0; s < 5; ++s) round_of(sizes[s]);
  return finish();
}
