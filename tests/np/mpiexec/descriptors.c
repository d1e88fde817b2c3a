/* SPDX-License-Identifier: BSD-3-Clause */
/* What descriptors 0 to 2 of a process are once MPI runs, and whether they can be used.
 * Usage: descriptors FILE. Each rank writes FILE.RANK: a line per descriptor with its number, what it is, and
 * what using it gives. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  char path[4096];
  FILE* to;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s.%d", argv[1], rank);
  to = fopen(path, "w");
  for (int fd = 0; fd < 3 && to != NULL; ++fd) {
    char link[64], target[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0';
    errno = 0;
    const ssize_t used = fd == 0 ? read(fd, link, 1) : write(fd, "said\n", 5);
    fprintf(to, "%d %s %s\n", fd, target, used < 0 ? strerror(errno) : "works");
  }
  if (to != NULL) fclose(to);
  MPI_Finalize();
  return to == NULL;
}
