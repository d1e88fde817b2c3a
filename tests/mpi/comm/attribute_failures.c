/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribute callbacks that fail, that run after their keyval was freed, and that delete other attributes
 * (MPI 5.0, 7.7.2). np: 1+ */
#include "check.h"

static int copy_fails, delete_fails, deletions, last_value;

static int copied(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  if (copy_fails) return MPI_ERR_OTHER;
  *(void**)copy = value;
  *flag = 1;
  return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  ++deletions;
  last_value = *(int*)value;
  return delete_fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int deleted_with_another(MPI_Comm comm, int keyval, void* value, void* other) {
  (void)keyval, (void)value;
  OK(MPI_Comm_delete_attr(comm, *(int*)other));
  return MPI_SUCCESS;
}

static int has(MPI_Comm comm, int keyval) {
  void* value;
  int flag = -1;
  OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
  return flag;
}

/* A new value deletes the old one; a freed keyval serves until its last attribute has gone. */
static void replaced_and_freed(MPI_Comm comm) {
  static int values[3] = {10, 11, 12};
  int keyvals[2], freed;
  MPI_Comm copy;
  for (int i = 0; i < 2; ++i) {
    OK(MPI_Comm_create_keyval(copied, deleted, &keyvals[i], NULL));
    OK(MPI_Comm_set_attr(comm, keyvals[i], &values[i]));
  }
  OK(MPI_Comm_set_attr(comm, keyvals[1], &values[2]));
  CHECK_EQ(deletions, 1);
  CHECK_EQ(last_value, 11);
  freed = keyvals[0];
  OK(MPI_Comm_free_keyval(&freed));
  CHECK_EQ(freed, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_dup(comm, &copy));
  CHECK(has(copy, keyvals[1]));
  deletions = 0;
  OK(MPI_Comm_free(&copy));
  CHECK_EQ(deletions, 2); /* that of the freed keyval as well */
  OK(MPI_Comm_delete_attr(comm, keyvals[1]));
  OK(MPI_Comm_free_keyval(&keyvals[1]));
}

static void failing(MPI_Comm comm) {
  static int value = 5;
  int keyval, size;
  MPI_Comm copy = MPI_COMM_NULL;
  OK(MPI_Comm_create_keyval(copied, deleted, &keyval, NULL));
  OK(MPI_Comm_set_attr(comm, keyval, &value));
  copy_fails = 1;
  CHECK_ERROR(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
  copy_fails = 0;
  delete_fails = 1;
  CHECK_ERROR(MPI_Comm_delete_attr(comm, keyval), MPI_ERR_OTHER);
  MPI_Comm freed = comm;
  CHECK_ERROR(MPI_Comm_free(&freed), MPI_ERR_OTHER);
  CHECK(freed == comm);
  OK(MPI_Comm_size(comm, &size)); /* it lives */
  delete_fails = 0;
  OK(MPI_Comm_free_keyval(&keyval));
}

static void one_deletes_another(void) {
  static int value;
  int first, second;
  MPI_Comm comm;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &second, NULL));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted_with_another, &first, &second));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Comm_set_attr(comm, first, &value));
  OK(MPI_Comm_set_attr(comm, second, &value));
  OK(MPI_Comm_delete_attr(comm, first));
  CHECK(!has(comm, first) && !has(comm, second));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Comm_free_keyval(&first));
  OK(MPI_Comm_free_keyval(&second));
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  replaced_and_freed(comm);
  failing(comm);
  one_deletes_another();
  OK(MPI_Comm_free(&comm));
  return finish();
}
