/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints "<name> <rank> of <size>"; then may start a command, so that launchers can be put inside each other.
 *
 *   kin NAME                 prints
 *   kin NAME child COMMAND   prints, runs COMMAND while MPI is in use, then finalizes
 *   kin NAME exec COMMAND    prints, finalizes, becomes COMMAND
 *   kin NAME die HOW         prints; rank 1 ends by abort (MPI_Abort with 7), kill or exit while others wait
 *   kin NAME die starting    rank 1 is killed 2 ms after its start, in MPI_Init or soon after it
 *   kin NAME again N         prints; opens and closes a session of its own N times before MPI_Init
 *   */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void die(const char* how, int rank) {
  if (rank == 1 && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 1 && (strcmp(how, "kill") == 0 || strcmp(how, "starting") == 0)) raise(SIGKILL);
  if (rank == 1 && strcmp(how, "exit") == 0) exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void kill_itself(int signal) {
  (void)signal;
  raise(SIGKILL);
}

/* Rank 1, as its launcher calls it, has 2 ms to live. */
static void die_soon(void) {
  const char* const names[] = {"PMI_RANK", "PMIX_RANK"};
  const struct itimerval soon = {.it_value = {.tv_usec = 2000}};
  for (int i = 0; i < 2; ++i) {
    const char* const rank = getenv(names[i]);
    if (rank == NULL || strcmp(rank, "1") != 0) continue;
    signal(SIGALRM, kill_itself);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
}

#if MPI_VERSION >= 4
/* 0: each time the process was alone in its session. */
static int open_and_close(int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, one = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    if (sum != 1) return 1;
  }
  return 0;
}
#else /* it is compiled with other MPIs, too */
static int open_and_close(int times) { return times; }
#endif

/* A shell's exit code for a status of wait(). */
static int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int main(int argc, char** argv) {
  const char* const what = argc > 3 ? argv[2] : "";
  int rank = 0, size = 0, status = 0;
  if (strcmp(what, "die") == 0 && strcmp(argv[3], "starting") == 0) die_soon();
  if (strcmp(what, "again") == 0) status = open_and_close(atoi(argv[3]));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%s %d of %d\n", argv[1], rank, size);
  fflush(stdout);
  if (strcmp(what, "child") == 0) status = code_of(system(argv[3]));
  if (strcmp(what, "die") == 0) die(argv[3], rank);
  MPI_Finalize();
  if (strcmp(what, "exec") == 0) {
    execl("/bin/sh", "sh", "-c", argv[3], (char*)NULL);
    return 99;
  }
  return status;
}
