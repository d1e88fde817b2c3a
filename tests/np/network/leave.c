/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions only: rank 0 has its part in a gather and leaves MPI while the others are still coming to it; the
 * last rank, the root, waits for them when rank 0 is gone. Then the others work on without it, and the root
 * sends to it, which gives an error that it prints.
 *   exit     rank 0 ends           stay     rank 0 lives on, without MPI
 *   again    it opens a second session and meets the others there, before it ends
 *   kill     it is killed after it has left      die   it is killed without having left
 *   usage: leave exit|stay|again|kill|die */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKEW_MS = 300, ROUNDS = 20, LARGE = 100000 };

static int me, size;
static MPI_Session session;

static void rest(int ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

static void check(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  printf("rank %d: %s: %s\n", me, what, text);
  fflush(stdout);
  _Exit(3);
}

/* A communicator of the ranks from `first` on. */
static MPI_Comm meet(int first, const char* tag) {
  MPI_Group world, group;
  MPI_Comm comm;
  int range[1][3];
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_size(world, &size);
  range[0][0] = first;
  range[0][1] = size - 1;
  range[0][2] = 1;
  MPI_Group_range_incl(world, 1, range, &group);
  check("create", MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return comm;
}

static void open_session(void) { MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session); }

static void gather(MPI_Comm comm) {
  int* all = calloc((size_t)size, sizeof *all);
  int rank;
  check("gather", MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, size - 1, comm));
  for (rank = 0; me == size - 1 && rank < size; ++rank) {
    if (all[rank] != rank) check("what was gathered", MPI_ERR_OTHER);
  }
  free(all);
}

static void work_on(MPI_Comm comm) {
  static int out[LARGE], in[LARGE];
  int round, rank, count, sum;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &count);
  for (round = 0; round < ROUNDS; ++round) {
    const int to = (rank + 1) % count, from = (rank + count - 1) % count, words = round % 2 ? LARGE : 3;
    out[0] = out[words - 1] = me + round;
    check("sendrecv",
          MPI_Sendrecv(out, words, MPI_INT, to, 1, in, words, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
    if (in[words - 1] != in[0]) check("what was received", MPI_ERR_OTHER);
    check("allreduce", MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm));
    if (sum != round * count) check("the sum", MPI_ERR_OTHER);
  }
}

static void send_to_the_gone(MPI_Comm all) {
  char text[MPI_MAX_ERROR_STRING];
  int length, code = MPI_SUCCESS, error_class = 0, tries;
  /* On its way out rank 0 still refuses what comes for a communicator that it has freed: that ends a send. */
  for (tries = 0; tries < 300 && code == MPI_SUCCESS; ++tries) {
    if (tries != 0) rest(100);
    code = MPI_Ssend(&me, 1, MPI_INT, 0, 7, all);
  }
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  printf("a later send: %s%s\n", error_class == MPI_ERR_PROC_ABORTED ? "" : "wrong class: ", text);
}

static int first_rank(const char* way, MPI_Comm all) {
  if (strcmp(way, "die") == 0) raise(SIGKILL);
  gather(all);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
  if (strcmp(way, "kill") == 0) raise(SIGKILL);
  if (strcmp(way, "stay") == 0) rest(4 * SKEW_MS);
  if (strcmp(way, "again") == 0) {
    open_session();
    all = meet(0, "again");
    work_on(all);
    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "exit";
  MPI_Comm all, others;
  int sum;
  open_session();
  all = meet(0, "all");
  MPI_Comm_rank(all, &me);
  check("allreduce", MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all));
  if (me == 0) return first_rank(way, all);
  rest(SKEW_MS);
  if (me != size - 1) rest(SKEW_MS); /* the root waits in the gather meanwhile */
  gather(all);
  if (strcmp(way, "die") == 0) _Exit(0);
  if (strcmp(way, "again") == 0) {
    others = meet(0, "again");
    work_on(others);
    MPI_Comm_free(&others);
    rest(SKEW_MS);
  }
  others = meet(1, "others");
  work_on(others);
  if (me == size - 1 && strcmp(way, "stay") != 0) send_to_the_gone(all);
  MPI_Comm_free(&others);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
  if (me == size - 1) printf("%d ranks went on\n", size - 1);
  return 0;
}
