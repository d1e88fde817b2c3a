/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmark programs share: pinning, the clock, medians, and lines of output that bench/compare
 * reads: `<figure> <size> <value> <unit>`. The programs are plain C for any MPI. Include it first: it asks
 * for the GNU functions. */
#ifndef STARLING_BENCH_H
#define STARLING_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __GNUC__
#define BENCH_UNUSED __attribute__((unused))
#else
#define BENCH_UNUSED
#endif

/* Every MPI binds differently by default; pinning here makes the runs alike. The n-th CPU that this process
 * may use. */
static void BENCH_UNUSED bench_pin(int n) {
  cpu_set_t all, one;
  int count, seen = 0;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  count = CPU_COUNT(&all);
  if (count < 2) return; /* the launcher has bound this process already */
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && seen++ == n % count) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/* Whatever bench_pin() or the launcher has chosen: threads that are made from here on run anywhere. */
static void BENCH_UNUSED bench_unpin(void) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all); /* the system leaves out what there is not */
}

static double BENCH_UNUSED bench_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int bench_compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double BENCH_UNUSED bench_median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, bench_compare_doubles);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* Page-aligned and touched, so that no page fault falls into the measurement. */
static BENCH_UNUSED unsigned char* bench_buffer(size_t bytes) {
  void* buffer = NULL;
  if (posix_memalign(&buffer, 4096, bytes + 4096) != 0) {
    fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    exit(1);
  }
  memset(buffer, 1, bytes + 4096);
  return buffer;
}

static void BENCH_UNUSED bench_print(const char* figure, long size, double value, const char* unit) {
  printf("%s %ld %.6g %s\n", figure, size, value, unit);
  fflush(stdout);
}

#endif
