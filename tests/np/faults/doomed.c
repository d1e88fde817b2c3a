/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank ends at a point and in a manner that the arguments name; the others work until they miss it.
 * Usage: doomed POINT MANNER */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LONG_BYTES 8000000

static const char* point;
static const char* manner;
static int rank, size;

/* The test wants to know when (tests/np/jobs.py). */
static void note_time(void) {
  const char* const path = getenv("STARLING_TEST_FAULT");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  struct timespec now;
  if (file == NULL) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(file, "%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
  fclose(file);
}

static void die(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  note_time();
  if (strcmp(manner, "exit0") == 0) _exit(0);
  if (strcmp(manner, "exit7") == 0) _exit(7);
  if (strcmp(manner, "stop") == 0) raise(SIGSTOP);
  signal(SIGSEGV, SIG_DFL);
  if (strcmp(manner, "kill") == 0) raise(SIGKILL);
  if (strcmp(manner, "segv") == 0) raise(SIGSEGV);
  fprintf(stderr, "doomed: still alive after %s\n", manner);
  _exit(3);
}

static int here(const char* name) { return strcmp(point, name) == 0; }

static void at(const char* name) {
  if (rank == size - 1 && here(name)) die();
}

/* Runs in MPI_Finalize, before anything is taken down (MPI 5.0, 11.4.2). */
static int in_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  at("in-finalize");
  return MPI_SUCCESS;
}

static void ring(char* data, int bytes, int rounds) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int i;
  for (i = 0; i < rounds; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(data + bytes, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD, &requests[1]);
    if (i == rounds / 2) at(bytes < 5000 ? "in-traffic" : "in-rendezvous");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void collectives(void) {
  int i, in = 1, out;
  for (i = 0; i < 20; ++i) {
    if (i == 10) at("in-collective");
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (i = 0; i < 4; ++i) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (i == 2) at("in-nonblocking");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  char* const data = calloc(2, LONG_BYTES);
  int key;
  if (argc < 3) return 2;
  point = argv[1];
  manner = argv[2];
  rank = atoi(getenv("PMI_RANK"));
  size = atoi(getenv("PMI_SIZE"));
  at("before-init");
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  at("after-init");
  if (rank == size - 1 && here("at-wire-up")) {
    MPI_Request request;
    MPI_Isend(data, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request); /* the first message to this peer */
    die();
  }
  ring(data, 1000, 20);
  ring(data, LONG_BYTES, size <= 4 ? 4 : 2);
  collectives();
  /* Nobody needs the dead one any more when it dies in MPI_Finalize: the launcher alone ends the job. */
  if (here("in-finalize") && rank != size - 1) pause();
  MPI_Finalize();
  at("after-finalize");
  free(data);
  return 0;
}
