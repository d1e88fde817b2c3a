/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of each rank after MPI_Init, before any message: the proportional set size (PSS) and the private
 * part, from /proc/self/smaps_rollup. Pages that ranks share count once in total. With EMPTY defined it is
 * built without MPI: the empty process that the figures are compared with. Usage: memory [seconds to wait
 * until all ranks are there] */
#include "bench.h"

#ifndef EMPTY
#include <mpi.h>
#endif

static long field_kb(const char* text, const char* name) {
  const char* at = strstr(text, name);
  return at ? atol(at + strlen(name)) : 0;
}

int main(int argc, char** argv) {
  static char text[8192];
#ifndef EMPTY
  MPI_Init(&argc, &argv);
#endif
  const double wait = argc > 1 ? atof(argv[1]) : 0.3;
  struct timespec pause = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
  nanosleep(&pause, NULL);
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  if (!file) {
    fprintf(stderr, "memory: /proc/self/smaps_rollup cannot be read; it needs Linux 4.14\n");
    return 1;
  }
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  bench_print("pss", 0, (double)field_kb(text, "\nPss:"), "kB");
  bench_print("private", 0, (double)(field_kb(text, "\nPrivate_Clean:") + field_kb(text, "\nPrivate_Dirty:")),
              "kB");
  nanosleep(&pause, NULL); /* nobody leaves while another one still looks */
#ifndef EMPTY
  MPI_Finalize();
#endif
  return 0;
}
