/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests to Starling's mpiexec cost, for costs.conf: raw PMI-1, without any MPI. Under its mpiexec,
 * with a few ranks: `mpiexec -n 8 bench_scale_probe`. Every rank puts a value of 64 bytes and gets the
 * others'.
 *
 * The server's time for a request is its processor time (/proc/<parent>/schedstat) over many of them. */
#include "../bench.h"

#include <stdarg.h>

enum { kGets = 4000, kFences = 2000 };

static int fd;
static char reply[4096];

/* Sends a line, unless it is empty, and reads one. */
static const char* ask(const char* format, ...) {
  char line[1024];
  size_t length = 0;
  va_list arguments;
  va_start(arguments, format);
  const int bytes = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (bytes > 0 && write(fd, line, (size_t)bytes) != bytes) exit(1);
  while (length == 0 || reply[length - 1] != '\n') {
    const ssize_t got = read(fd, reply + length, sizeof reply - 1 - length);
    if (got <= 0) exit(1);
    length += (size_t)got;
  }
  reply[length] = '\0';
  return reply;
}

/* Processor time of mpiexec so far, in us. */
static double server_us(void) {
  char path[64];
  unsigned long long ns = 0;
  snprintf(path, sizeof path, "/proc/%d/schedstat", (int)getppid());
  FILE* const file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%llu", &ns) != 1) {
    fprintf(stderr, "probe: %s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return (double)ns * 1e-3;
}

static void get(const char* kvs, int from) {
  if (strstr(ask("cmd=get kvsname=%s key=probe%d\n", kvs, from), "value=") == NULL) exit(1);
}

int main(void) {
  const char *const socket = getenv("PMI_FD"), *const rank = getenv("PMI_RANK"),
                    *const size = getenv("PMI_SIZE");
  char kvs[256];
  if (socket == NULL || rank == NULL || size == NULL) {
    fprintf(stderr, "probe: run it under mpiexec\n");
    return 1;
  }
  fd = atoi(socket);
  const int me = atoi(rank), ranks = atoi(size);
  ask("cmd=init pmi_version=1 pmi_subversion=1\n");
  const char* const name = strstr(ask("cmd=get_my_kvsname\n"), " kvsname=");
  if (name == NULL || sscanf(name, " kvsname=%255s", kvs) != 1) return 1;
  ask("cmd=put kvsname=%s key=probe%d value=%064d\n", kvs, me, me);
  ask("cmd=barrier_in\n");
  if (me == 0) {
    const double busy = server_us(), start = bench_seconds();
    for (int i = 0; i < kGets; ++i) get(kvs, i % ranks);
    const double each = (bench_seconds() - start) * 1e6 / kGets, server = (server_us() - busy) / kGets;
    bench_print("pmi_round_trip_us", 0, each - server, "us");
    bench_print("alone_request_us", 0, server, "us");
  }
  ask("cmd=barrier_in\n");
  /* All at once: a server that has much to do does not sleep in between. */
  const double busy = server_us();
  for (int i = 0; i < kGets; ++i) get(kvs, (me + i) % ranks);
  ask("cmd=barrier_in\n");
  const double request = (server_us() - busy) / kGets / ranks, before = server_us();
  for (int i = 0; i < kFences; ++i) ask("cmd=barrier_in\n");
  const double fence = (server_us() - before) / kFences / ranks;
  if (me == 0) {
    bench_print("pmi_request_us", 0, request, "us");
    bench_print("pmi_release_us", 0, fence > request ? fence - request : 0, "us");
  }
  ask("cmd=finalize\n");
  return 0;
}
