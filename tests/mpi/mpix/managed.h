/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs about receive buffers of the library's share. */
#ifndef STARLING_TESTS_MPIX_MANAGED_H
#define STARLING_TESTS_MPIX_MANAGED_H

#include "check.h"

#include <mpix.h>

/* The library has them, or this is not its test. */
#define NEED_MANAGED() \
  if (!MPIX_HAVE_RECV_BUF()) return CHECK_SKIP

/* The buffer of a completed receive holds `bytes` bytes of pattern `seed`; it is written to and released. */
static void CHECK_UNUSED take(MPI_Status status, size_t bytes, int seed) {
  void *data = (void*)1, *again = NULL;
  int count = -1;
  OK(MPIX_Get_recv_buf(status, &data));
  OK(MPIX_Get_recv_buf(status, &again));
  CHECK(data == again);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  CHECK((data == NULL) == (bytes == 0));
  CHECK_EQ(first_difference(data, bytes, seed), -1);
  if (bytes != 0) memset(data, 0xee, bytes);
  OK(MPIX_Release_recv_buf(status, data));
}

#endif
