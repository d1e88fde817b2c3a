/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank computes, without a call of MPI, until others have ended a wait that needs it: without a progress
 * thread it would do so for ever.
 * Usage: overlap send|receive|iallreduce|ibarrier|user_op|signals SECONDS FILE
 *   FILE: flags for all ranks, zeros at first; SECONDS: after these a rank gives up, with code 4. */
#include "common.h"

#include <signal.h>

enum { LONG_BYTES = 3000000, ROUNDS = 20, DOUBLES = 100000 };

static char* data;
static pthread_t main_thread;

static void fill(int round) { memset(data, round + 1, LONG_BYTES); }
static void check(int round) {
  for (int i = 0; i < LONG_BYTES; ++i)
    if (data[i] != (char)(round + 1)) give_up(3, "the bytes that have come are not those that were sent");
}

/* Rank 0 sends; the others' receives end while it computes. */
static void while_sending(int round) {
  MPI_Request request;
  if (rank == 0) {
    fill(round);
    for (int to = 1; to < size; ++to) {
      MPI_Isend(data, LONG_BYTES, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
      compute_until(to, round + 1);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Recv(data, LONG_BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(round);
    atomic_store(&flags[rank], round + 1);
  }
}

/* Rank 0 receives. */
static void while_receiving(int round) {
  MPI_Request request;
  if (rank == 0) {
    memset(data, 0, LONG_BYTES);
    MPI_Irecv(data, LONG_BYTES, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    compute_until(1, round + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(round);
  } else if (rank == 1) {
    fill(round);
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ssend(data, LONG_BYTES, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    atomic_store(&flags[rank], round + 1);
  }
}

static void wait_for_all(MPI_Request* request, int round) {
  if (rank == 0) {
    for (int other = 1; other < size; ++other) compute_until(other, round + 1);
    MPI_Wait(request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    atomic_store(&flags[rank], round + 1);
  }
}

static void while_reducing(int round) {
  double* const in = malloc(2 * DOUBLES * sizeof *in);
  double* const out = in + DOUBLES;
  MPI_Request request;
  for (int i = 0; i < DOUBLES; ++i) in[i] = rank + i + round;
  MPI_Iallreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  wait_for_all(&request, round);
  for (int i = 0; i < DOUBLES; ++i)
    if (out[i] != size * (size - 1) / 2 + (double)size * (i + round))
      give_up(3, "MPI_Iallreduce: a wrong sum");
  free(in);
}

static void while_in_a_barrier(int round) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_for_all(&request, round);
}

static atomic_int applied_elsewhere;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
  if (!pthread_equal(pthread_self(), main_thread)) ++applied_elsewhere;
}

/* All that the reduction needs comes while rank 0 computes; the operation waits for a call of the program all
 * the same. */
static void with_user_op(int round) {
  MPI_Request request;
  MPI_Op op;
  int in = rank + 1, out = 0;
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
  while_receiving(round); /* which comes after the messages of the reduction */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Op_free(&op);
  if (out != size * (size + 1) / 2) give_up(3, "MPI_Iallreduce: a wrong sum");
  if (applied_elsewhere != 0) give_up(3, "the program's operation ran in a thread that is not the program's");
}

static atomic_int handled;
static void handler(int signal) {
  (void)signal;
  ++handled;
}

static void with_signals(int round) {
  struct sigaction action;
  sigset_t set, pending;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(SIGUSR2, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  handled = 0;
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGUSR2); /* no thread of the program takes it */
  while_receiving(round);
  sigpending(&pending);
  if (handled != 0 || !sigismember(&pending, SIGUSR2)) give_up(3, "a handler ran in the progress thread");
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  if (handled != 1) give_up(3, "a signal was lost");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(int round);
  } kWays[] = {{"send", while_sending},          {"receive", while_receiving}, {"iallreduce", while_reducing},
               {"ibarrier", while_in_a_barrier}, {"user_op", with_user_op},    {"signals", with_signals}};
  int provided = -1, level = -1;
  if (argc != 4) give_up(2, "usage: overlap WAY SECONDS FILE");
  limit_s = atoi(argv[2]);
  map_flags(argv[3]);
  main_thread = pthread_self();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Query_thread(&level);
  if (provided != MPI_THREAD_FUNNELED || level != provided) give_up(3, "the thread level is another one");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  data = malloc(LONG_BYTES);
  for (size_t way = 0; way < sizeof kWays / sizeof *kWays; ++way) {
    for (int round = 0; strcmp(kWays[way].name, argv[1]) == 0 && round < ROUNDS; ++round)
      kWays[way].run(round);
  }
  MPI_Finalize();
  free(data);
  return 0;
}
