/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.7.3: a target that computes, and does not call MPI, is no obstacle: it waits for what others
 * put into its memory, which by messages a thread of its process has to do.
 * np: 1-8 */
#include "rma.h"

int main(int argc, char** argv) {
  int *base, one = 1, got = 0;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  win = int_window(4, &base);
  if (world_rank() == 0) {
    for (int target = 0; target < world_size(); ++target) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
      OK(MPI_Accumulate(&one, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win));
      OK(MPI_Win_flush(target, win));
      OK(MPI_Get(&got, 1, MPI_INT, target, 1, 1, MPI_INT, win));
      OK(MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, win));
      OK(MPI_Win_unlock(target, win));
      CHECK_EQ(got, 1);
    }
  }
  while (*(volatile int*)base == 0) {
  }
  OK(MPI_Win_free(&win));
  return finish();
}
