/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: set, get, replace, delete; copied or not on a duplicate as the callback says, deleted with
 * the communicator (MPI-4, 7.7). */
#include "check.h"

static int copied, deleted;

static int copy_doubled(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  CHECK_EQ(*(int*)extra, 77);
  ++copied;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  CHECK_EQ(*(int*)extra, 77);
  ++deleted;
  return MPI_SUCCESS;
}

static void* get(MPI_Comm comm, int key, int* flag) {
  void* value = NULL;
  OK(MPI_Comm_get_attr(comm, key, &value, flag));
  return value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int extra = 77, flag, doubled, kept_back, shared;
  char place[10];
  MPI_Comm first, second;
  OK(MPI_Comm_create_keyval(copy_doubled, count_delete, &doubled, &extra));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &kept_back, NULL));
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &shared, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
  get(first, doubled, &flag);
  CHECK(!flag);
  OK(MPI_Comm_set_attr(first, doubled, &place[0]));
  CHECK(get(first, doubled, &flag) == &place[0] && flag);
  OK(MPI_Comm_set_attr(first, doubled, &place[3]));
  CHECK_EQ(deleted, 1); /* the value that was replaced */
  OK(MPI_Comm_set_attr(first, kept_back, &place[5]));
  OK(MPI_Comm_set_attr(first, shared, &place[6]));

  OK(MPI_Comm_dup(first, &second));
  CHECK_EQ(copied, 1);
  CHECK(get(second, doubled, &flag) == &place[4] && flag);
  get(second, kept_back, &flag);
  CHECK(!flag);
  CHECK(get(second, shared, &flag) == &place[6] && flag);

  int key = doubled;
  OK(MPI_Comm_free_keyval(&key)); /* values that are there keep their callbacks */
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_free(&second));
  CHECK_EQ(deleted, 2);
  OK(MPI_Comm_delete_attr(first, shared));
  get(first, shared, &flag);
  CHECK(!flag);
  OK(MPI_Comm_free(&first));
  CHECK_EQ(deleted, 3);
  OK(MPI_Comm_free_keyval(&shared));
  OK(MPI_Comm_free_keyval(&kept_back));
  return finish();
}
