/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rank that does not exist, in every argument that is one: MPI_ERR_RANK, or MPI_ERR_ROOT for a root
 * (MPI 5.0, 3.2.3, 9.4). Between groups ranks are those of the remote one. */
#include "check.h"

static int value, other;
static MPI_Request request;
static MPI_Message message;
static int flag;

#define NO_RANK(call) CHECK_ERROR(call, MPI_ERR_RANK)

static void check_sends(MPI_Comm comm, int rank) {
  NO_RANK(MPI_Send(&value, 1, MPI_INT, rank, 0, comm));
  NO_RANK(MPI_Bsend(&value, 1, MPI_INT, rank, 0, comm));
  NO_RANK(MPI_Ssend(&value, 1, MPI_INT, rank, 0, comm));
  NO_RANK(MPI_Rsend(&value, 1, MPI_INT, rank, 0, comm));
  NO_RANK(MPI_Isend(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Ibsend(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Issend(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Irsend(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Send_init(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Bsend_init(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Ssend_init(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Rsend_init(&value, 1, MPI_INT, rank, 0, comm, &request));
#if MPI_VERSION >= 4
  NO_RANK(MPI_Psend_init(&value, 1, 1, MPI_INT, rank, 0, comm, MPI_INFO_NULL, &request));
#endif
}

static void check_receives(MPI_Comm comm, int rank) {
  NO_RANK(MPI_Recv(&value, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Irecv(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Recv_init(&value, 1, MPI_INT, rank, 0, comm, &request));
  NO_RANK(MPI_Probe(rank, 0, comm, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Iprobe(rank, 0, comm, &flag, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Mprobe(rank, 0, comm, &message, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Improbe(rank, 0, comm, &flag, &message, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
  NO_RANK(MPI_Precv_init(&value, 1, 1, MPI_INT, rank, 0, comm, MPI_INFO_NULL, &request));
#endif
}

static void check_both(MPI_Comm comm, int rank) {
  NO_RANK(MPI_Sendrecv(&value, 1, MPI_INT, rank, 0, &other, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Sendrecv_replace(&value, 1, MPI_INT, rank, 0, 0, 0, comm, MPI_STATUS_IGNORE));
  NO_RANK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, rank, 0, comm, MPI_STATUS_IGNORE));
}

static void check_roots(MPI_Comm comm, int rank) {
  CHECK_ERROR(MPI_Bcast(&value, 1, MPI_INT, rank, comm), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Reduce(&value, &other, 1, MPI_INT, MPI_SUM, rank, comm), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Gather(&value, 1, MPI_INT, &other, 1, MPI_INT, rank, comm), MPI_ERR_ROOT);
  CHECK_ERROR(MPI_Scatter(&value, 1, MPI_INT, &other, 1, MPI_INT, rank, comm), MPI_ERR_ROOT);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm, half, inter;
  int me, size, remote;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_rank(comm, &me));
  OK(MPI_Comm_size(comm, &size));
  check_sends(comm, size);
  check_receives(comm, size);
  check_both(comm, size);
  check_roots(comm, size);
  if (size > 1) { /* one process on this side, the others on that one: their number counts */
    OK(MPI_Comm_split(comm, me == 0, me, &half));
    OK(MPI_Intercomm_create(half, 0, comm, me == 0 ? 1 : 0, 1, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_remote_size(inter, &remote));
    check_sends(inter, remote);
    check_receives(inter, remote);
    check_both(inter, remote);
    check_roots(inter, remote);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
  }
  OK(MPI_Comm_free(&comm));
  return finish();
}
