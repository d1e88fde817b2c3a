/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.7.4: attributes of datatypes; copied by MPI_Type_dup as their callback says, deleted by
 * MPI_Type_free and MPI_Type_delete_attr. np: 1 */
#include "check.h"

static int copies, deletions, refuse;
static MPI_Datatype last_deleted_from;
static int state;

static int copy(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)keyval;
  CHECK(extra == &state);
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int erase(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)keyval, (void)value;
  CHECK(extra == &state);
  if (refuse) return MPI_ERR_OTHER;
  ++deletions;
  last_deleted_from = type;
  return MPI_SUCCESS;
}

static void* value_of(MPI_Datatype type, int keyval, int* flag) {
  void* value = NULL;
  OK(MPI_Type_get_attr(type, keyval, &value, flag));
  return value;
}

static void callbacks(int keyval) {
  char place[4];
  int flag = -1;
  MPI_Datatype type, same;
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  (void)value_of(type, keyval, &flag);
  CHECK(!flag);
  OK(MPI_Type_set_attr(type, keyval, place));
  CHECK(value_of(type, keyval, &flag) == place && flag);
  OK(MPI_Type_set_attr(type, keyval, place + 1)); /* the old value is deleted first */
  CHECK_EQ(deletions, 1);
  OK(MPI_Type_dup(type, &same));
  CHECK_EQ(copies, 1);
  CHECK(value_of(same, keyval, &flag) == place + 2 && flag);
  CHECK(value_of(type, keyval, &flag) == place + 1 && flag);
  refuse = 1;
  CHECK_ERROR(MPI_Type_delete_attr(type, keyval), MPI_ERR_OTHER); /* the callback's error is the call's */
  refuse = 0;
  OK(MPI_Type_delete_attr(type, keyval));
  CHECK_EQ(deletions, 2);
  CHECK(last_deleted_from == type);
  (void)value_of(type, keyval, &flag);
  CHECK(!flag);
  OK(MPI_Type_free(&type));
  CHECK_EQ(deletions, 2);
  type = same;
  OK(MPI_Type_free(&same));
  CHECK_EQ(deletions, 3);
  CHECK(last_deleted_from == type);
}

/* A keyval that was freed lives on where it is in use. */
static void freed_keyval(int keyval) {
  int number = keyval, flag = -1;
  MPI_Datatype type;
  OK(MPI_Type_contiguous(1, MPI_INT, &type));
  OK(MPI_Type_set_attr(type, keyval, &flag));
  OK(MPI_Type_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  CHECK(value_of(type, number, &flag) == &flag && flag);
  deletions = 0;
  OK(MPI_Type_free(&type));
  CHECK_EQ(deletions, 1);
}

/* Predefined types have attributes as well; MPI_TYPE_DUP_FN copies, MPI_TYPE_NULL_COPY_FN does not. */
static void ready_made_callbacks(void) {
  int copied, dropped, flag = -1, value = 7;
  MPI_Datatype same;
  OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &copied, NULL));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &dropped, NULL));
  CHECK(copied != dropped);
  OK(MPI_Type_set_attr(MPI_DOUBLE, copied, &value));
  OK(MPI_Type_set_attr(MPI_DOUBLE, dropped, &value));
  OK(MPI_Type_dup(MPI_DOUBLE, &same));
  CHECK(value_of(same, copied, &flag) == &value && flag);
  (void)value_of(same, dropped, &flag);
  CHECK(!flag);
  OK(MPI_Type_free(&same));
  OK(MPI_Type_delete_attr(MPI_DOUBLE, copied));
  OK(MPI_Type_delete_attr(MPI_DOUBLE, dropped));
  OK(MPI_Type_free_keyval(&copied));
  OK(MPI_Type_free_keyval(&dropped));
}

static void errors(void) {
  int keyval = MPI_KEYVAL_INVALID, value = 0, of_comm;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, NULL));
  CHECK_ERROR(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, &value), MPI_ERR_KEYVAL);
  CHECK_ERROR(MPI_Type_free_keyval(&keyval), MPI_ERR_KEYVAL);
  CHECK(MPI_Type_set_attr(MPI_INT, of_comm, &value) != MPI_SUCCESS); /* another kind of object */
  OK(MPI_Comm_free_keyval(&of_comm));
}

int main(int argc, char** argv) {
  int keyval;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Type_create_keyval(copy, erase, &keyval, &state));
  CHECK(keyval != MPI_KEYVAL_INVALID);
  callbacks(keyval);
  freed_keyval(keyval);
  ready_made_callbacks();
  errors();
  return finish();
}
