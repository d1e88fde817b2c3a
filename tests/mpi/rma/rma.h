/* SPDX-License-Identifier: BSD-3-Clause */
/* What the one-sided programs share. */
#ifndef STARLING_TESTS_MPI_RMA_H
#define STARLING_TESTS_MPI_RMA_H

#include "check.h"

/* A window of `count` ints per rank, zeroed, that gives errors back. */
static MPI_Win CHECK_UNUSED int_window(int count, int** base) {
  MPI_Win win;
  OK(MPI_Win_allocate((MPI_Aint)sizeof(int) * count, (int)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, base,
                      &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  for (int i = 0; i < count; ++i) (*base)[i] = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  return win;
}

#endif
