/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a start apart, as one rank sees them: MPI_Session_init, a communicator of itself, one of
 * everybody (argument "sessions"), or MPI_Init ("world"). Each rank prints `phase <name> <ms> <KiB>`: how
 * long the step took, and the private memory of the process behind it. bench/servers runs it under each
 * process manager. */
#include "bench.h"

#include <mpi.h>

enum { MOST = 4 };
static const char* names[MOST];
static double ms[MOST];
static long kib[MOST];
static int count;

static long private_kib(void) {
  char line[256];
  long sum = 0, value;
  FILE* const file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Private_Clean: %ld kB", &value) == 1 ||
        sscanf(line, "Private_Dirty: %ld kB", &value) == 1)
      sum += value;
  }
  fclose(file);
  return sum;
}

static void note(const char* name, double start) {
  ms[count] = (bench_seconds() - start) * 1e3;
  names[count] = name;
  kib[count] = private_kib();
  ++count;
}

#if MPI_VERSION >= 4
static MPI_Comm make(MPI_Session session, const char* set) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, "bench", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

static void sessions(void) {
  MPI_Session session;
  double start = bench_seconds();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  note("session", start);
  start = bench_seconds();
  MPI_Comm self = make(session, "mpi://SELF");
  note("self", start);
  start = bench_seconds();
  MPI_Comm world = make(session, "mpi://WORLD");
  note("world", start);
  MPI_Comm_free(&world);
  MPI_Comm_free(&self);
  MPI_Session_finalize(&session);
}
#else
static void sessions(void) {}
#endif

int main(int argc, char** argv) {
  char text[512];
  int length = 0;
  note("empty", bench_seconds());
  if (argc > 1 && strcmp(argv[1], "world") == 0) {
    const double start = bench_seconds();
    MPI_Init(&argc, &argv);
    note("MPI_Init", start);
    MPI_Finalize();
  } else {
    sessions();
  }
  for (int i = 0; i < count; ++i)
    length +=
        snprintf(text + length, sizeof text - (size_t)length, "phase %s %.4f %ld\n", names[i], ms[i], kib[i]);
  return write(STDOUT_FILENO, text, (size_t)length) == length ? 0 : 1; /* in one piece, whoever else prints */
}
