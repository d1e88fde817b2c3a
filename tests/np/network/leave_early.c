/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 closes its session while the others are outside of MPI, and stay there until it has: they wait for a
 * file that it makes then.
 *   sent     after a message to each of them, received      silent   having sent nothing of its own
 *   usage: leave_early sent|silent FILE */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_S = 30, STEP_MS = 10 };

static void work(const char* way, MPI_Comm comm, int me, int size) {
  int rank, word = 7;
  if (strcmp(way, "silent") == 0) return;
  for (rank = 1; me == 0 && rank < size; ++rank) MPI_Send(&word, 1, MPI_INT, rank, 1, comm);
  if (me != 0) MPI_Recv(&word, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
}

static int wait_for_file(const char* file) {
  const struct timespec step = {0, STEP_MS * 1000000L};
  int tries;
  for (tries = 0; tries < MOST_S * 1000 / STEP_MS; ++tries) {
    if (access(file, F_OK) == 0) return 1;
    nanosleep(&step, NULL);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* const way = argc == 3 ? argv[1] : "sent";
  const char* const file = argv[argc - 1];
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  FILE* made;
  int me, size, good = 1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  work(way, comm, me, size);
  if (me != 0) {
    good = wait_for_file(file);
    printf(good ? "rank %d: rank 0 has left\n" : "rank %d: rank 0 still waits\n", me);
  }
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (me == 0) {
    made = fopen(file, "w");
    if (made != NULL) fclose(made);
  }
  return good ? 0 : 3;
}
