/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of outstanding receives and sends between all pairs, matched in an order unlike that of the
 * posting (MPI-4, 3.5, 3.7). */
#include "check.h"

enum { kEach = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int total = kEach * size;
  MPI_Request* receives = malloc((size_t)total * sizeof(MPI_Request));
  MPI_Request* sends = malloc((size_t)total * sizeof(MPI_Request));
  int* in = malloc((size_t)total * sizeof(int));
  int* out = malloc((size_t)total * sizeof(int));
  for (int posted_first = 0; posted_first < 2; ++posted_first) {
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < total && side != posted_first; ++k) {
        const int to = k / kEach, tag = kEach - 1 - k % kEach;
        out[k] = me * 1000000 + tag;
        OK(MPI_Isend(&out[k], 1, MPI_INT, to, tag, MPI_COMM_WORLD, &sends[k]));
      }
      for (int k = 0; k < total && side == posted_first; ++k) {
        in[k] = -1;
        OK(MPI_Irecv(&in[k], 1, MPI_INT, k % size, k / size, MPI_COMM_WORLD, &receives[k]));
      }
    }
    OK(MPI_Waitall(total, receives, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(total, sends, MPI_STATUSES_IGNORE));
    for (int k = 0; k < total; ++k) CHECK_EQ(in[k], (k % size) * 1000000 + k / size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  free(out);
  free(in);
  free(sends);
  free(receives);
  return finish();
}
