/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.7.2: a keyval that was freed exists until its last attribute has gone, and freeing one in
 * use is not wrong: whoever holds its number may free it, also a delete callback, also while MPI ends.
 * np: 1+ */
#include "check.h"

static int deletions;

static int free_again(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)value, (void)extra;
  OK(MPI_Comm_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  ++deletions;
  return MPI_SUCCESS;
}

static int free_type_again(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)value, (void)extra;
  OK(MPI_Type_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
  ++deletions;
  return MPI_SUCCESS;
}

static void of_a_communicator(void) {
  int value = 0, keyval, second, third;
  MPI_Comm comm, copy;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, free_again, &keyval, NULL));
  second = third = keyval;
  OK(MPI_Comm_set_attr(comm, keyval, &value));
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Comm_free_keyval(&keyval));
  OK(MPI_Comm_free_keyval(&second));
  CHECK_EQ(second, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Comm_free_keyval(&third)); /* the copy has an attribute */
  OK(MPI_Comm_free(&copy));
  CHECK_EQ(deletions, 2);
}

static void of_a_type(void) {
  int value = 0, keyval, second;
  MPI_Datatype type;
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, free_type_again, &keyval, NULL));
  second = keyval;
  OK(MPI_Type_set_attr(type, keyval, &value));
  OK(MPI_Type_free_keyval(&keyval));
  OK(MPI_Type_free_keyval(&second));
  OK(MPI_Type_free(&type));
  CHECK_EQ(deletions, 3);
}

/* It is the number that may be freed again, not MPI_KEYVAL_INVALID. */
static void of_nothing(void) {
  int keyval;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  OK(MPI_Comm_free_keyval(&keyval));
  CHECK_ERROR(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
}

int main(int argc, char** argv) {
  int value = 0, keyval;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  of_a_communicator();
  of_a_type();
  of_nothing();
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_again, &keyval, NULL));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value));
  OK(MPI_Comm_free_keyval(&keyval));
  OK(MPI_Finalize());
  if (deletions == 4) return 0;
  fprintf(stderr, "MPI_Finalize did not delete the attribute of MPI_COMM_SELF\n");
  return 1;
}
