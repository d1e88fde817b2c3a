/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 7.7.2 and 9.5: what a copy or delete callback returns is what the call returns, a code or
 * class of the user with its class and with the user's text and nothing else. np: 1+ */
#include "check.h"

static int answer = MPI_SUCCESS;

static int copied(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void**)copy = value;
  *flag = 1;
  return answer;
}
static int deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return answer;
}
static int type_copied(MPI_Datatype type, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)type, (void)keyval, (void)extra, (void)value, (void)copy;
  *flag = 0;
  return answer;
}

static void expect(int code, int error_class, const char* wanted) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = -1;
  CHECK_EQ(code, answer);
  CHECK_EQ(check_class(code), error_class);
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, wanted) == 0);
  CHECK_EQ(length, (int)strlen(wanted));
}

static void each_call(int code, int error_class, const char* wanted) {
  int value = 0, keyval, type_keyval;
  MPI_Comm comm, copy = MPI_COMM_SELF, same;
  MPI_Datatype type, other = MPI_INT;
  OK(MPI_Comm_create_keyval(copied, deleted, &keyval, NULL));
  OK(MPI_Type_create_keyval(type_copied, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_attr(comm, keyval, &value));
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  OK(MPI_Type_set_attr(type, type_keyval, &value));
  answer = code;
  expect(MPI_Comm_dup(comm, &copy), error_class, wanted);
  CHECK(copy == MPI_COMM_NULL);
  expect(MPI_Comm_set_attr(comm, keyval, &code), error_class, wanted);
  expect(MPI_Comm_delete_attr(comm, keyval), error_class, wanted);
  same = comm;
  expect(MPI_Comm_free(&same), error_class, wanted);
  expect(MPI_Type_dup(type, &other), error_class, wanted);
  CHECK(other == MPI_DATATYPE_NULL);
  answer = MPI_SUCCESS;
  OK(MPI_Type_free(&type));
  OK(MPI_Comm_free(&comm));
  OK(MPI_Comm_free_keyval(&keyval));
  OK(MPI_Type_free_keyval(&type_keyval));
}

int main(int argc, char** argv) {
  int error_class, code;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Add_error_class(&error_class));
  OK(MPI_Add_error_string(error_class, "the tea is cold"));
  OK(MPI_Add_error_code(error_class, &code));
  OK(MPI_Add_error_string(code, "the tea is cold since noon"));
  each_call(error_class, error_class, "the tea is cold");
  each_call(code, error_class, "the tea is cold since noon");
  return finish();
}
