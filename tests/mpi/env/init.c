/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init, MPI_Initialized, MPI_Finalized, the thread level (MPI-4, 11.2.1 to 11.2.3). */
#include "check.h"

int main(int argc, char** argv) {
  int flag = 1, level = -1;
  OK(MPI_Initialized(&flag));
  CHECK(!flag);
  OK(MPI_Finalized(&flag));
  CHECK(!flag);
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Initialized(&flag));
  CHECK(flag);
  OK(MPI_Finalized(&flag));
  CHECK(!flag);
  OK(MPI_Query_thread(&level));
  CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
  OK(MPI_Is_thread_main(&flag));
  CHECK(flag);
  CHECK(world_rank() >= 0 && world_rank() < world_size());
  OK(MPI_Finalize());
  OK(MPI_Initialized(&flag));
  CHECK(flag);
  OK(MPI_Finalized(&flag));
  CHECK(flag);
  return 0;
}
