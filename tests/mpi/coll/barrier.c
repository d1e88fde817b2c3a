/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody leaves a barrier before the last process has entered it (MPI-4, 6.3). All processes must see one
 * clock, so they have to be on one machine. */
#define _GNU_SOURCE
#include <time.h>

#include "coll.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  for (int form = 0; form < FORMS; ++form) {
    for (int late = 0; late < size && late < 4; ++late) {
      if (me == late) {
        const struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
      }
      double entered = now(), last_in = 0, first_out = 0;
      RUN(form, Barrier, barrier, MPI_COMM_WORLD);
      double left = now();
      OK(MPI_Allreduce(&entered, &last_in, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
      OK(MPI_Allreduce(&left, &first_out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
      CHECK(first_out >= last_in);
    }
  }
  for (int i = 0; i < 1000; ++i) OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Barrier(MPI_COMM_SELF));
  return finish();
}
