/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and attributes of datatypes; Fortran's parameterised types; types found by size
 * (MPI 5.0, 7.7.3, 7.8, 19.1.5). np: 1 */
#include "check.h"

static int deleted;

static int copy_fn(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)keyval;
  *(void**)out = in;
  *flag = extra != NULL;
  return MPI_SUCCESS;
}

static int delete_fn(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(void) {
  MPI_Datatype type, copy;
  int keyval, flag, number = 3;
  int* value = NULL;
  OK(MPI_Type_create_keyval(copy_fn, delete_fn, &keyval, &number));
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  OK(MPI_Type_get_attr(type, keyval, &value, &flag));
  CHECK(!flag);
  OK(MPI_Type_set_attr(type, keyval, &number));
  OK(MPI_Type_dup(type, &copy));
  OK(MPI_Type_get_attr(copy, keyval, &value, &flag));
  CHECK(flag && value == &number);
  OK(MPI_Type_delete_attr(copy, keyval));
  CHECK_EQ(deleted, 1);
  OK(MPI_Type_get_attr(copy, keyval, &value, &flag));
  CHECK(!flag);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&copy));
  CHECK_EQ(deleted, 2); /* some MPIs keep the type for its duplicate */
  OK(MPI_Type_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Datatype type;
  OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
  CHECK(strcmp(name, "MPI_DOUBLE") == 0);
  CHECK_EQ(length, 10);
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  OK(MPI_Type_get_name(type, name, &length));
  CHECK_EQ(length, 0);
  OK(MPI_Type_set_name(type, "pair"));
  OK(MPI_Type_get_name(type, name, &length));
  CHECK(strcmp(name, "pair") == 0);
  OK(MPI_Type_free(&type));
}

static void by_size(void) {
  MPI_Datatype type;
  int size;
  OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 4);
  OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 8);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
  CHECK(type == MPI_DOUBLE_INT);
  OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_CHAR, &type));
  CHECK(type == MPI_DATATYPE_NULL);
#endif
#if MPI_VERSION >= 5 /* the others need a Fortran compiler */
  MPI_Datatype again;
  OK(MPI_Type_create_f90_real(15, 300, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 8);
  OK(MPI_Type_create_f90_real(15, 300, &again));
  CHECK(type == again);
  OK(MPI_Type_create_f90_complex(6, 30, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 8);
  OK(MPI_Type_create_f90_integer(9, &type));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(size, 4);
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  attributes();
  names();
  by_size();
  return finish();
}
