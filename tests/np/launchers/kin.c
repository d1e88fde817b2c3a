/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints "<name> <rank> of <size>"; then may start a command, so that launchers can be put inside each other.
 *
 *   kin NAME                 prints
 *   kin NAME child COMMAND   prints, runs COMMAND while MPI is in use, then finalizes
 *   kin NAME exec COMMAND    prints, finalizes, becomes COMMAND
 *   kin NAME die HOW         prints; rank 1 ends by abort (MPI_Abort with 7), kill or exit while others wait
 *   */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char* how, int rank) {
  if (rank == 1 && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 1 && strcmp(how, "kill") == 0) raise(SIGKILL);
  if (rank == 1 && strcmp(how, "exit") == 0) exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const what = argc > 3 ? argv[2] : "";
  int rank = 0, size = 0, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%s %d of %d\n", argv[1], rank, size);
  fflush(stdout);
  if (strcmp(what, "child") == 0) status = system(argv[3]);
  if (strcmp(what, "die") == 0) die(argv[3], rank);
  MPI_Finalize();
  if (strcmp(what, "exec") == 0) {
    execl("/bin/sh", "sh", "-c", argv[3], (char*)NULL);
    return 99;
  }
  return status == 0 ? 0 : 98;
}
