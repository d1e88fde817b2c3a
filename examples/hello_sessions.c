/* SPDX-License-Identifier: BSD-3-Clause */
/* The same greeting without MPI_Init: a session, a group from a process set, a communicator from the group
 * (MPI-4, 11.3). There is no MPI_COMM_WORLD in this program. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session); /* local: waits for no other process */

  MPI_Group everybody;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);

  MPI_Comm comm; /* collective, but only over the members of the group */
  MPI_Comm_create_from_group(everybody, "org.example.hello", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&everybody);

  int rank, size, sets;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  printf("hello from rank %d of %d; this session knows %d process sets\n", rank, size, sets);

  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);

  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (sum != size * (size - 1) / 2) {
    fprintf(stderr, "rank %d: the ranks add up to %d, expected %d\n", rank, sum, size * (size - 1) / 2);
    return 1;
  }
  return 0;
}
