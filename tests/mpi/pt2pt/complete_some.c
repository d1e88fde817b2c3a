/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Waitsome and MPI_Testsome: those that are complete, their indices and statuses; MPI_UNDEFINED when
 * none is active (MPI-4, 3.7.5). */
#include "check.h"

enum { kCount = 16 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request receives[kCount], sends[kCount];
  MPI_Status statuses[kCount];
  int values[kCount], out[kCount], indices[kCount], done;

  for (int i = 0; i < kCount; ++i) receives[i] = MPI_REQUEST_NULL;
  OK(MPI_Waitsome(kCount, receives, &done, indices, statuses));
  CHECK_EQ(done, MPI_UNDEFINED);
  OK(MPI_Testsome(kCount, receives, &done, indices, statuses));
  CHECK_EQ(done, MPI_UNDEFINED);

  for (int pass = 0; pass < 2; ++pass) {
    int seen[kCount] = {0}, total = 0;
    for (int i = 0; i < kCount; ++i) {
      values[i] = -1;
      OK(MPI_Irecv(&values[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &receives[i]));
    }
    OK(MPI_Testsome(kCount, receives, &done, indices, statuses));
    CHECK_EQ(done, 0);
    for (int half = 0; half < 2; ++half) {
      for (int i = half; i < kCount; i += 2) {
        out[i] = 200 + i;
        OK(MPI_Isend(&out[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &sends[i]));
      }
      while (total < (half + 1) * kCount / 2) {
        if (pass == 0)
          OK(MPI_Waitsome(kCount, receives, &done, indices, statuses));
        else
          OK(MPI_Testsome(kCount, receives, &done, indices, statuses));
        CHECK(pass == 0 ? done >= 1 : done >= 0);
        for (int n = 0; n < done; ++n) {
          const int i = indices[n];
          CHECK(i >= 0 && i < kCount && i % 2 <= half);
          CHECK_EQ(seen[i]++, 0);
          CHECK_EQ(statuses[n].MPI_TAG, i);
          CHECK_EQ(statuses[n].MPI_SOURCE, me);
          CHECK_EQ(values[i], 200 + i);
          CHECK(receives[i] == MPI_REQUEST_NULL);
        }
        total += done;
      }
    }
    CHECK_EQ(total, kCount);
    OK(MPI_Waitall(kCount, sends, MPI_STATUSES_IGNORE));
  }
  return finish();
}
