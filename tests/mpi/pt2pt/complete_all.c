/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Waitall and MPI_Testall: all or nothing, statuses in the order of the requests, null requests
 * included (MPI-4, 3.7.5). */
#include "check.h"

enum { kCount = 9 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request receives[kCount], sends[kCount];
  MPI_Status statuses[kCount];
  int values[kCount], out[kCount], flag, count;

  OK(MPI_Waitall(0, receives, statuses));
  OK(MPI_Testall(0, receives, &flag, statuses));
  CHECK(flag);

  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < kCount; ++i) {
      values[i] = -1;
      receives[i] = MPI_REQUEST_NULL;
      if (i != 4) OK(MPI_Irecv(&values[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &receives[i]));
      sends[i] = MPI_REQUEST_NULL;
      out[i] = 300 + i;
    }
    for (int i = 0; i < kCount - 1; ++i)
      if (i != 4) OK(MPI_Isend(&out[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &sends[i]));
    for (int n = 0; n < 50; ++n) { /* one is missing: nothing may be consumed */
      OK(MPI_Testall(kCount, receives, &flag, statuses));
      CHECK(!flag);
      CHECK(receives[0] != MPI_REQUEST_NULL);
    }
    OK(MPI_Isend(&out[kCount - 1], 1, MPI_INT, me, kCount - 1, MPI_COMM_WORLD, &sends[kCount - 1]));
    if (pass == 0) {
      OK(MPI_Waitall(kCount, receives, statuses));
    } else {
      do OK(MPI_Testall(kCount, receives, &flag, statuses));
      while (!flag);
    }
    for (int i = 0; i < kCount; ++i) {
      CHECK(receives[i] == MPI_REQUEST_NULL);
      OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
      CHECK_EQ(count, i == 4 ? 0 : 1);
      CHECK_EQ(statuses[i].MPI_TAG, i == 4 ? MPI_ANY_TAG : i);
      if (i != 4) CHECK_EQ(values[i], 300 + i);
    }
    OK(MPI_Waitall(kCount, sends, MPI_STATUSES_IGNORE));
  }
  return finish();
}
