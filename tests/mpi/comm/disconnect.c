/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 11.10.4: MPI_Comm_disconnect frees the communicator with its attributes when its messages
 * have been delivered. */
#include "check.h"

static int deleted;
static int erase(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  enum { kBytes = 1 << 20 };
  static unsigned char from[kBytes], to[kBytes];
  int keyval;
  MPI_Comm comm;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  const int me = world_rank(), size = world_size();
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &keyval, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_attr(comm, keyval, &keyval));
  fill(from, kBytes, me);
  OK(MPI_Irecv(to, kBytes, MPI_BYTE, (me + size - 1) % size, 0, comm, &requests[0]));
  OK(MPI_Isend(from, kBytes, MPI_BYTE, (me + 1) % size, 0, comm, &requests[1]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(deleted, 1);
  CHECK_EQ(first_difference(to, kBytes, (me + size - 1) % size), -1);

  CHECK_ERROR(MPI_Comm_disconnect(&comm), MPI_ERR_COMM); /* MPI_COMM_NULL */
  OK(MPI_Comm_free_keyval(&keyval));
  return finish();
}
