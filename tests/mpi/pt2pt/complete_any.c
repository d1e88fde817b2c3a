/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Waitany and MPI_Testany: one complete request out of many; null requests are passed over; with none
 * active the index is MPI_UNDEFINED (MPI-4, 3.7.5). */
#include "check.h"

enum { kCount = 12 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request receives[kCount], sends[kCount];
  MPI_Status status;
  int values[kCount], out[kCount], index, flag;

  for (int i = 0; i < kCount; ++i) receives[i] = MPI_REQUEST_NULL;
  index = 5;
  OK(MPI_Waitany(kCount, receives, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  flag = 0;
  OK(MPI_Testany(kCount, receives, &index, &flag, &status));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Waitany(0, receives, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);

  for (int pass = 0; pass < 2; ++pass) {
    int seen[kCount] = {0};
    for (int i = 0; i < kCount; ++i) {
      values[i] = -1;
      receives[i] = MPI_REQUEST_NULL;
      if (i % 3 != 1) OK(MPI_Irecv(&values[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &receives[i]));
    }
    OK(MPI_Testany(kCount, receives, &index, &flag, &status));
    CHECK(!flag);
    CHECK_EQ(index, MPI_UNDEFINED);
    for (int i = kCount - 1; i >= 0; --i) {
      out[i] = 100 + i;
      sends[i] = MPI_REQUEST_NULL;
      if (i % 3 != 1) OK(MPI_Isend(&out[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &sends[i]));
    }
    for (int n = 0; n < kCount - kCount / 3; ++n) {
      if (pass == 0) {
        OK(MPI_Waitany(kCount, receives, &index, &status));
      } else {
        do OK(MPI_Testany(kCount, receives, &index, &flag, &status));
        while (!flag);
      }
      CHECK(index >= 0 && index < kCount && index % 3 != 1);
      CHECK_EQ(seen[index]++, 0);
      CHECK(receives[index] == MPI_REQUEST_NULL);
      CHECK_EQ(status.MPI_TAG, index);
      CHECK_EQ(values[index], 100 + index);
    }
    OK(MPI_Waitany(kCount, receives, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Waitall(kCount, sends, MPI_STATUSES_IGNORE));
  }
  return finish();
}
