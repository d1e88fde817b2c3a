/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined attributes of MPI_COMM_WORLD (MPI-4, 9.1.2, 11.10.1). */
#include "check.h"

static int* attribute(int key, int* flag) {
  int* value = NULL;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, flag));
  return value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  int flag = 0;
  int* value = attribute(MPI_TAG_UB, &flag);
  CHECK(flag && *value >= 32767);
  /* The largest tag can be used. */
  const int largest = *value;
  int out = 5, in = 0;
  MPI_Status status;
  OK(MPI_Sendrecv(&out, 1, MPI_INT, me, largest, &in, 1, MPI_INT, me, largest, MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_TAG, largest);
  CHECK_EQ(in, 5);
  value = attribute(MPI_WTIME_IS_GLOBAL, &flag);
  if (flag) CHECK(*value == 0 || *value == 1);
  value = attribute(MPI_UNIVERSE_SIZE, &flag);
  if (flag) CHECK(*value >= 1);
  attribute(MPI_APPNUM, &flag);
  return finish();
}
