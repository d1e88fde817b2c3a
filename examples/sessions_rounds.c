/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions come and go 1,000 times, a different number of times on each rank. MPI_Session_init and
 * _finalize are local as long as no communicator is made, so the ranks need not agree on how often they
 * call them (MPI-4, 11.3.1). After every hundredth round all ranks meet in one communicator. Usage:
 * sessions_rounds [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One session with a communicator over all ranks; returns 0 if the sum over the ranks is right. */
static int meet(int* rank_out) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, sum = -1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "org.example.rounds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  *rank_out = rank;
  return sum == size * (size - 1) / 2 ? 0 : 1;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  const double start = now();
  int rank = 0, made = 0, wrong = meet(&rank);
  for (int hundred = 0; hundred < (rounds + 99) / 100; ++hundred) {
    const int mine = 100 + 7 * (rank % 5); /* unequal on purpose */
    for (int i = 0; i < mine; ++i) {
      MPI_Session session;
      if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 1;
      if (MPI_Session_finalize(&session) != MPI_SUCCESS) return 1;
      ++made;
    }
    wrong |= meet(&rank);
  }
  if (rank == 0)
    printf("%d sessions on rank 0 in %.3f s, %s\n", made, now() - start, wrong ? "WRONG" : "all right");
  if (wrong) fprintf(stderr, "rank %d: an allreduce gave a wrong sum\n", rank);
  return wrong;
}
