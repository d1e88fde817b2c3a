/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_SUM and its kind on MPI_BYTE, which section 6.9.2 does not name: in accumulates bytes are
 * unsigned numbers, since mpi4py takes these two where its caller names neither operation nor type. A
 * reduction refuses them. np: 1+ */
#include "check.h"

int main(int argc, char** argv) {
  unsigned char *base, ten[3] = {10, 10, 10}, seen[3] = {0, 0, 0};
  MPI_Datatype apart;
  MPI_Win win;
  int rank, size;
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  OK(MPI_Type_vector(3, 1, 2, MPI_BYTE, &apart)); /* bytes 0, 2 and 4 */
  OK(MPI_Type_commit(&apart));
  const int next = (rank + 1) % size;
  for (int i = 0; i < 8; ++i) base[i] = (unsigned char)(200 + i);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Fetch_and_op(ten, seen, MPI_BYTE, next, 1, MPI_SUM, win));
  OK(MPI_Accumulate(ten, 3, MPI_BYTE, next, 2, 1, apart, MPI_MAX, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(seen[0], 201);
  CHECK_EQ(base[1], 211);
  CHECK_EQ(base[2], 202); /* 10 is less */
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get_accumulate(ten, 3, MPI_BYTE, seen, 3, MPI_BYTE, next, 2, 1, apart, MPI_SUM, win));
  OK(MPI_Get_accumulate(ten, 0, MPI_BYTE, seen, 0, MPI_BYTE, next, 0, 0, MPI_BYTE, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(seen[i], 202 + 2 * i);
    CHECK_EQ(base[2 + 2 * i], 212 + 2 * i);
    CHECK_EQ(base[3 + 2 * i > 7 ? 7 : 3 + 2 * i], 200 + (3 + 2 * i > 7 ? 7 : 3 + 2 * i));
  }
  CHECK_ERROR(MPI_Fetch_and_op(ten, seen, MPI_BYTE, next, 1, MPI_MAXLOC, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Reduce_local(ten, seen, 1, MPI_BYTE, MPI_SUM), MPI_ERR_OP);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Type_free(&apart));
  OK(MPI_Win_free(&win));
  return finish();
}
