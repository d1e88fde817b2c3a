/* SPDX-License-Identifier: BSD-3-Clause */
/* How the progress thread begins and ends.
 * Usage: ends sessions|finalize|exit|abort|exec|fork|idle|killed|fatal [FILE] */
#include "common.h"

#include <signal.h>
#include <sys/wait.h>

static void expect_helper(int there, const char* when) {
  if ((helper() != 0) == there) return;
  fprintf(stderr, "%s: ", when);
  give_up(3, there ? "there is no progress thread" : "the progress thread is still there");
}

static void open_and_close_sessions(void) {
  MPI_Session one, two;
  MPI_Info info;
  char level[64];
  int flag = 0;
  for (int i = 0; i < 20; ++i) {
    expect_helper(0, "before the first session");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one);
    expect_helper(1, "in a session");
    MPI_Session_get_info(one, &info);
    MPI_Info_get(info, "thread_level", 63, level, &flag);
    MPI_Info_free(&info);
    if (!flag || strcmp(level, "MPI_THREAD_SERIALIZED") != 0) give_up(3, "the thread level is another one");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &two);
    MPI_Session_finalize(&one);
    expect_helper(1, "in the second session");
    MPI_Session_finalize(&two);
    expect_helper(0, "after the last session");
  }
}

/* The thread is at work while the program forks: it receives what rank 1 sends all the time. */
static void fork_while_it_works(void) {
  enum { FORKS = 30, BYTES = 4000000, MESSAGES = 300 };
  char* const data = malloc((size_t)BYTES);
  MPI_Request* const requests = malloc(MESSAGES * sizeof *requests);
  if (rank == 0) {
    for (int i = 0; i < MESSAGES; ++i) MPI_Irecv(data, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    for (int i = 0; i < FORKS; ++i) {
      char name[MPI_MAX_OBJECT_NAME] = "";
      int status = -1, length = -1;
      const pid_t child = fork();
      if (child == 0) {
        if (helper() != 0) _exit(11);
        MPI_Comm_get_name(MPI_COMM_WORLD, name, &length); /* takes the lock */
        if (strcmp(name, "MPI_COMM_WORLD") != 0) _exit(12);
        exit(0);
      }
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        give_up(3, "a forked child did not end as it should");
    }
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    expect_helper(1, "after all forks");
  } else if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; ++i) MPI_Send(data, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  free(requests);
  free(data);
}

/* Nobody sends: it sleeps, but for a look in each second. Waits until it has gone to sleep. */
static void stay_idle(void) {
  const struct timespec window = {0, 50000000};
  unsigned long long before = 0, now = helper_status("voluntary_ctxt_switches:", 10);
  do {
    before = now;
    nanosleep(&window, NULL);
    now = helper_status("voluntary_ctxt_switches:", 10);
  } while (now != before);
  for (int i = 0; i < 40; ++i) nanosleep(&window, NULL);
  now = helper_status("voluntary_ctxt_switches:", 10);
  if (now - before > 8) {
    fprintf(stderr, "%llu times\n", now - before);
    give_up(3, "the progress thread of an idle process does not sleep");
  }
}

static pthread_t main_thread, handler_thread;
static atomic_int handled;

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  handler_thread = pthread_self();
  ++handled;
}

/* Rank 1 dies while rank 0 computes; rank 0 hears of it in its next call. */
static void meet_a_death(int fatal) {
  MPI_Errhandler errhandler;
  MPI_Request request;
  MPI_Status status;
  int pid = getpid(), error_class = MPI_SUCCESS, word = 0, code;
  if (rank == 1) {
    MPI_Send(&pid, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (rank != 0) return;
  if (!fatal) {
    MPI_Comm_create_errhandler(on_error, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  }
  MPI_Recv(&pid, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
  MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  while (kill(pid, 0) == 0) moment();
  for (int i = 0; i < 200; ++i) moment(); /* the thread may hear of it */
  if (handled != 0) give_up(3, "an error handler was called while the program computed");
  printf("rank 0 has computed\n");
  fflush(stdout);
  code = MPI_Wait(&request, &status);
  MPI_Error_class(code, &error_class);
  if (handled != 1 || !pthread_equal(handler_thread, main_thread))
    give_up(3, "the handler was not called by MPI_Wait");
  if (error_class != MPI_ERR_PROC_ABORTED) give_up(3, "MPI_Wait gave another error");
  MPI_Errhandler_free(&errhandler);
}

/* The signals for which programs have handlers; those of faults go to whom they happen. */
static void expect_blocked(void) {
  static const int kSignals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPROF, SIGIO};
  const unsigned long long blocked = helper_status("SigBlk:", 16);
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i)
    if ((blocked >> (kSignals[i] - 1) & 1) == 0) give_up(3, "the progress thread does not block a signal");
  while ((helper_status("SigBlk:", 16) >> (SIGSEGV - 1) & 1) != 0)
    moment(); /* a thread that begins blocks all */
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  main_thread = pthread_self();
  if (strcmp(way, "sessions") == 0) {
    open_and_close_sessions();
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "none") == 0) {
    expect_helper(0, "without progress_thread=on");
  } else {
    expect_helper(1, "after MPI_Init");
    expect_blocked();
  }
  if (strcmp(way, "fork") == 0) fork_while_it_works();
  if (strcmp(way, "idle") == 0) stay_idle();
  if (strcmp(way, "killed") == 0) meet_a_death(0);
  if (strcmp(way, "fatal") == 0) meet_a_death(1);
  if (strcmp(way, "exit") == 0) exit(5);
  if (strcmp(way, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 6);
  if (strcmp(way, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
  MPI_Finalize();
  expect_helper(0, "after MPI_Finalize");
  return 0;
}
