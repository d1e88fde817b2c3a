/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.7.2: deleting an attribute fails if its delete callback refuses. Of one that the object
 * does not have there is nothing to delete and nothing to call; a keyval that does not exist, or one for
 * another kind of object, is an error all the same. np: 1+ */
#include "check.h"

static int deleted;

static int count_comm(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static int comm_key, type_key, win_key;

/* Of a communicator that never had it, one that had it, and one whose duplicate still has it. */
static void of_comms(void) {
  MPI_Comm comm, other;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Comm_delete_attr(comm, comm_key));
  CHECK_EQ(deleted, 0);
  OK(MPI_Comm_set_attr(comm, comm_key, &deleted));
  OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, comm_key));
  CHECK_EQ(deleted, 0);
  OK(MPI_Comm_dup(comm, &other));
  OK(MPI_Comm_delete_attr(comm, comm_key));
  CHECK_EQ(deleted, 1);
  OK(MPI_Comm_delete_attr(comm, comm_key));
  CHECK_EQ(deleted, 1);

  int freed = comm_key;
  OK(MPI_Comm_free_keyval(&freed));
  OK(MPI_Comm_delete_attr(comm, comm_key)); /* the keyval exists until the duplicate's attribute has gone */
  CHECK_EQ(deleted, 1);
  OK(MPI_Comm_delete_attr(other, comm_key));
  CHECK_EQ(deleted, 2);
  CHECK_ERROR(MPI_Comm_delete_attr(other, comm_key), MPI_ERR_KEYVAL);
  OK(MPI_Comm_free(&other));
  OK(MPI_Comm_free(&comm));
}

static void of_types(void) {
  MPI_Datatype type;
  OK(MPI_Type_dup(MPI_INT, &type));
  OK(MPI_Type_delete_attr(type, type_key));
  OK(MPI_Type_delete_attr(MPI_INT, type_key));
  CHECK_ERROR(MPI_Type_delete_attr(type, win_key), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Type_delete_attr(type, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  OK(MPI_Type_free(&type));
}

static void of_windows(void) {
  MPI_Win win;
  OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  OK(MPI_Win_delete_attr(win, win_key));
  CHECK_ERROR(MPI_Win_delete_attr(win, type_key), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Win_delete_attr(win, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  OK(MPI_Win_free(&win));
}

int main(void) {
  OK(MPI_Init(NULL, NULL));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_comm, &comm_key, NULL));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL));
  CHECK_ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, type_key), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
  of_comms();
  of_types();
  of_windows();
  OK(MPI_Type_free_keyval(&type_key));
  OK(MPI_Win_free_keyval(&win_key));
  return finish();
}
