/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes on MPI_COMM_SELF are deleted first in MPI_Finalize, in the reverse order of their setting,
 * while MPI still works (MPI-4, 11.2.4): a module that is loaded by a program gives back there what it keeps,
 * its communicator and the key whose callback is running. */
#include "check.h"

static int calls, given_back;
static MPI_Comm kept;
static int kept_key;

static int at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  int rank = -1, flag = 1;
  (void)key, (void)extra;
  ++calls;
  CHECK_EQ(*(int*)value, 4 - calls); /* 3, 2, 1 */
  OK(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(rank, 0);
  OK(MPI_Finalized(&flag));
  CHECK(!flag);
  return MPI_SUCCESS;
}

static int give_back(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)value;
  CHECK_EQ(key, kept_key);
  CHECK(extra == &kept);
  CHECK_EQ(calls, 0); /* set last, so it is the first to go */
  OK(MPI_Barrier(kept));
  OK(MPI_Comm_free(&kept));
  OK(MPI_Comm_free_keyval(&kept_key));
  CHECK_EQ(kept_key, MPI_KEYVAL_INVALID);
  ++given_back;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int values[3] = {1, 2, 3};
  int keys[3];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; ++i) {
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keys[i], NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &values[i]));
  }
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &kept));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, give_back, &kept_key, &kept));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, kept_key, NULL));
  OK(MPI_Finalize());
  CHECK_EQ(calls, 3);
  CHECK_EQ(given_back, 1);
  return 0;
}
