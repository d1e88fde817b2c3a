/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that use MPI one after the other: each begins when the one before has opened a session, made a
 * communicator of itself, and has left a file. Who waited for another rank would wait for ever. argv[1]:
 * the folder of the files. A trace of system calls shows the phases by writes to descriptor -1. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(3);
}

/* The rank as launchers tell it, without MPI. */
static int rank_of_launcher(void) {
  static const char* const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  }
  fail("no launcher has said which rank this is");
  return -1;
}

static void mark(const char* phase) {
  const ssize_t refused = write(-1, phase, strlen(phase));
  (void)refused;
}

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: alone FOLDER");
  char path[4096];
  const int rank = rank_of_launcher();
  const struct timespec pause = {0, 10000000};
  snprintf(path, sizeof path, "%s/done.%d", argv[1], rank - 1);
  for (int i = 0; rank > 0 && access(path, F_OK) != 0; ++i) {
    if (i == 6000) fail("the rank before has not come through");
    nanosleep(&pause, NULL);
  }
  MPI_Session session;
  MPI_Group self;
  MPI_Comm comm;
  mark("phase begin");
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) fail("MPI_Session_init");
  mark("phase initialised");
  if (MPI_Group_from_session_pset(session, "mpi://SELF", &self) != MPI_SUCCESS) fail("mpi://SELF");
  if (MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS)
    fail("MPI_Comm_create_from_group");
  mark("phase made");
  if (MPI_Group_free(&self) != MPI_SUCCESS || MPI_Comm_free(&comm) != MPI_SUCCESS) fail("free");
  snprintf(path, sizeof path, "%s/done.%d", argv[1], rank);
  const int done = open(path, O_CREAT | O_WRONLY, 0600);
  if (done < 0) fail(path);
  close(done);
  if (MPI_Session_finalize(&session) != MPI_SUCCESS) fail("MPI_Session_finalize");
  printf("rank %d\n", rank);
  return 0;
}
