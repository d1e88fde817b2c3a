/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators can be made and freed without end, and hundreds can live at once, each with its own context
 * (MPI-4, 7.4). */
#include "check.h"

enum { kRounds = 1000, kAlive = 200 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Comm comm;
  for (int i = 0; i < kRounds; ++i) {
    if (i % 2)
      OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    else
      OK(MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm));
    OK(MPI_Comm_free(&comm));
  }
  MPI_Comm alive[kAlive];
  MPI_Request requests[kAlive];
  int out[kAlive], in;
  for (int i = 0; i < kAlive; ++i) {
    OK(MPI_Comm_dup(i ? alive[i - 1] : MPI_COMM_WORLD, &alive[i]));
    out[i] = i;
  }
  for (int i = 0; i < kAlive; ++i)
    OK(MPI_Isend(&out[i], 1, MPI_INT, (me + 1) % size, 0, alive[i], &requests[i]));
  for (int i = kAlive - 1; i >= 0; --i) {
    OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, alive[i], MPI_STATUS_IGNORE));
    CHECK_EQ(in, i);
  }
  OK(MPI_Waitall(kAlive, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kAlive; ++i) OK(MPI_Comm_free(&alive[(i * 7) % kAlive]));
  return finish();
}
