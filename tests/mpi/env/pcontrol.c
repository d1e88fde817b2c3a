/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 15.2.4: without a profiler MPI_Pcontrol does nothing and takes any further arguments. */
#include "check.h"

int main(int argc, char** argv) {
  int sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  OK(MPI_Pcontrol(0));
  OK(MPI_Pcontrol(2, "a", 3.0, &sum));
  OK(MPI_Pcontrol(-1000, 17));
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, world_size());
  OK(MPI_Pcontrol(1));
  return finish();
}
