/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of this folder share: flags that all ranks of the machine see without MPI, and the tasks
 * of the own process. */
#ifndef STARLING_TESTS_NP_PROGRESS_COMMON_H
#define STARLING_TESTS_NP_PROGRESS_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_RANKS 64

static int rank, size, limit_s;
static _Atomic int* flags; /* one of each rank; the file was made by the test, with zeros */

static void __attribute__((unused, noreturn)) give_up(int code, const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  _exit(code);
}

static void __attribute__((unused)) map_flags(const char* path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void* const place = mmap(NULL, MOST_RANKS * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || place == MAP_FAILED) give_up(2, "the file of the flags cannot be mapped");
  close(fd);
  flags = place;
}

static void __attribute__((unused)) moment(void) {
  const struct timespec time = {0, 1000000};
  nanosleep(&time, NULL);
}

/* Without MPI until that rank says that it has come so far. Nothing in here makes progress. */
static void __attribute__((unused)) compute_until(int who, int value) {
  const time_t begin = time(NULL);
  while (atomic_load(&flags[who]) < value) {
    moment();
    if (time(NULL) - begin > limit_s) give_up(4, "nothing has moved while this rank computed");
  }
}

/* The progress thread of this process: its task id, or 0. */
static int __attribute__((unused)) helper(void) {
  char path[300], name[64];
  int found = 0;
  DIR* const tasks = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) {
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE* const file = fopen(path, "re");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, "mpi progress\n") == 0)
      found = atoi(entry->d_name);
    fclose(file);
  }
  closedir(tasks);
  return found;
}

/* A line of its /proc/self/task/TID/status, "SigBlk:\t..."; the number after the name, in that base. */
static unsigned long long __attribute__((unused)) helper_status(const char* name, int base) {
  char path[64], line[256];
  unsigned long long value = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", helper());
  FILE* const file = fopen(path, "re");
  if (file == NULL) give_up(5, "there is no progress thread");
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) value = strtoull(line + strlen(name) + 1, NULL, base);
  fclose(file);
  return value;
}

#endif
