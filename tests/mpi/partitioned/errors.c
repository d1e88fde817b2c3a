/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions that do not exist or are handed over twice, wildcards, requests of another kind
 * (MPI 5.0, 4.2). needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Request send, receive, plain;
  int out[4] = {1, 2, 3, 4}, in[4], other, flag, list[2] = {0, 9};
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Psend_init(out, -1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
              MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Psend_init(out, 0, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Psend_init(out, 4, -1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send),
              MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Precv_init(in, 4, -1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive),
              MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Precv_init(in, 4, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive),
              MPI_ERR_RANK);
  CHECK_ERROR(MPI_Precv_init(in, 4, 1, MPI_INT, me, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &receive),
              MPI_ERR_TAG);
  OK(MPI_Psend_init(out, 4, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  OK(MPI_Precv_init(in, 4, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  CHECK_ERROR(MPI_Pready(0, send), MPI_ERR_REQUEST); /* not started */
  OK(MPI_Start(&send));
  OK(MPI_Start(&receive));
  CHECK_ERROR(MPI_Start(&send), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Pready(4, send), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Pready(-1, send), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Parrived(receive, 4, &flag), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  OK(MPI_Irecv(&other, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &plain));
  CHECK_ERROR(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
  OK(MPI_Send(&me, 1, MPI_INT, me, 1, MPI_COMM_WORLD));
  OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
  CHECK_ERROR(MPI_Pready_list(2, list, send), MPI_ERR_ARG); /* the first one of the list is handed over */
  CHECK_ERROR(MPI_Pready(0, send), MPI_ERR_ARG);
  OK(MPI_Pready_range(1, 3, send));
  OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  for (int i = 0; i < 4; ++i) CHECK_EQ(in[i], i + 1);
  OK(MPI_Request_free(&send));
  OK(MPI_Request_free(&receive));
  /* The sides differ in what they transfer. */
  OK(MPI_Psend_init(out, 4, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  OK(MPI_Precv_init(in, 3, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  OK(MPI_Start(&receive));
  OK(MPI_Start(&send));
  OK(MPI_Pready_range(0, 3, send));
  CHECK_ERROR(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  OK(MPI_Request_free(&send));
  OK(MPI_Request_free(&receive));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
