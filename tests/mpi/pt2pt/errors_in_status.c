/* SPDX-License-Identifier: BSD-3-Clause */
/* When one of several requests fails, MPI_Waitall returns MPI_ERR_IN_STATUS and each status says how its
 * request ended: success, its own error, or MPI_ERR_PENDING (MPI-4, 3.7.5). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_Request receives[3], sends[3];
  MPI_Status statuses[3];
  int in[3] = {-1, -1, -1}, out[4] = {10, 11, 12, 13};
  for (int i = 0; i < 3; ++i) {
    OK(MPI_Irecv(&in[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &receives[i]));
    OK(MPI_Isend(&out[i], i == 1 ? 2 : 1, MPI_INT, me, i, MPI_COMM_WORLD, &sends[i]));
  }
  OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
  /* Until both good ones are through, a pending one is allowed; so ask again for those. */
  CHECK_ERROR(MPI_Waitall(3, receives, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(check_class(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
  for (int i = 0; i < 3; i += 2) {
    const int how = check_class(statuses[i].MPI_ERROR);
    CHECK(how == MPI_SUCCESS || how == MPI_ERR_PENDING);
    if (how == MPI_ERR_PENDING) OK(MPI_Wait(&receives[i], &statuses[i]));
    CHECK_EQ(in[i], 10 + i);
  }
  return finish();
}
