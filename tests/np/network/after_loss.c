/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that goes on after a collective has told of a loss: rank R is killed, and the others end all
 * their calls, whoever has heard of it by which way. Each prints how many of its calls have failed, and then
 * waits until all have come so far: the end of one would tell the others.
 *   usage: after_loss R DIRECTORY */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 40, CALLS = 100, MOST_TENTHS = 900 };

static int arrived(const char* directory, int rank) {
  char name[4096];
  snprintf(name, sizeof name, "%s/arrived-%d", directory, rank);
  return access(name, F_OK) == 0;
}

static void arrive(const char* directory, int rank) {
  char name[4096];
  snprintf(name, sizeof name, "%s/arrived-%d", directory, rank);
  FILE* const file = fopen(name, "w");
  if (file == NULL || fclose(file) != 0) _Exit(2);
}

int main(int argc, char** argv) {
  const struct timespec tenth = {0, 100000000};
  int me, size, victim, failed = 0, missing = -1;
  double one = 1, sum;
  if (argc != 3) return 2;
  victim = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < CALLS; ++i) {
    if (me == victim && i == WARM) raise(SIGKILL);
    failed += MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  }
  printf("rank %d: %d failed\n", me, failed);
  fflush(stdout);
  arrive(argv[2], me);
  for (int tenths = 0; tenths < MOST_TENTHS && missing != size; ++tenths) {
    for (missing = 0; missing < size && (missing == victim || arrived(argv[2], missing));) ++missing;
    if (missing != size) nanosleep(&tenth, NULL);
  }
  if (missing != size) printf("rank %d waits for rank %d\n", me, missing);
  fflush(stdout);
  _Exit(0);
}
