/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 2.2, 4.1 and 15.2: what MPI 3.0 removed and programs still call. An MPI may lack it all.
 * np: 1-4 */
#include "check.h"

#ifdef OPEN_MPI /* refuses these names while it compiles */
int main(void) { return CHECK_SKIP; }
#else

struct item {
  char letter;
  double number;
  int tail;
};

static int
    new_name; /* MPI_Type_create_struct, which programs half brought up to date call with the markers */

static MPI_Datatype make_struct(int count, int* lengths, MPI_Aint* at, MPI_Datatype* types) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (new_name)
    OK(MPI_Type_create_struct(count, lengths, at, types, &made));
  else
    OK(MPI_Type_struct(count, lengths, at, types, &made));
  OK(MPI_Type_commit(&made));
  return made;
}

static void check_bounds(MPI_Datatype type, long lb, long ub, int bytes) {
  MPI_Aint low = -77, high = -77, extent = -77;
  int size = -1;
  OK(MPI_Type_lb(type, &low));
  OK(MPI_Type_ub(type, &high));
  OK(MPI_Type_extent(type, &extent));
  OK(MPI_Type_size(type, &size));
  CHECK_EQ(low, lb);
  CHECK_EQ(high, ub);
  CHECK_EQ(extent, ub - lb);
  CHECK_EQ(size, bytes);
}

/* Two of three members, and MPI_UB at the end of the structure: an array of them can be sent. */
static void a_struct_with_an_upper_bound_carries_an_array(void) {
  struct item sent[3] = {{0}}, got[3];
  MPI_Aint base, at[3];
  int lengths[3] = {1, 1, 1}, i;
  MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_UB}, type;
  OK(MPI_Address(&sent[0], &base));
  OK(MPI_Address(&sent[0].number, &at[0]));
  OK(MPI_Address(&sent[0].tail, &at[1]));
  at[0] -= base;
  at[1] -= base;
  at[2] = (MPI_Aint)sizeof(struct item);
  type = make_struct(3, lengths, at, types);
  check_bounds(type, (long)at[0], (long)sizeof(struct item), (int)(sizeof(double) + sizeof(int)));
  for (i = 0; i < 3; ++i) {
    sent[i].letter = 's';
    sent[i].number = 1.5 * i;
    sent[i].tail = 100 + i;
    got[i].letter = 'g';
  }
  OK(MPI_Sendrecv(sent, 1, type, 0, 1, got, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK(got[0].number == 0.0 && got[0].tail == 100 && got[0].letter == 'g');
  OK(MPI_Type_free(&type));

  /* With a lower bound as well, elements follow each other at the structure's distance. */
  {
    MPI_Aint places[4];
    int four[4] = {1, 1, 1, 1};
    MPI_Datatype kinds[4] = {MPI_LB, MPI_DOUBLE, MPI_INT, MPI_UB};
    places[0] = 0;
    for (i = 0; i < 3; ++i) places[i + 1] = at[i];
    type = make_struct(4, four, places, kinds);
  }
  check_bounds(type, 0, (long)sizeof(struct item), (int)(sizeof(double) + sizeof(int)));
  OK(MPI_Sendrecv(sent, 3, type, 0, 1, got, 3, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (i = 0; i < 3; ++i) CHECK(got[i].number == 1.5 * i && got[i].tail == 100 + i && got[i].letter == 'g');
  OK(MPI_Type_free(&type));
}

/* The order of the data is that of the entries, also around markers. */
static void markers_between_entries_keep_the_order(void) {
  int lengths[5] = {1, 1, 1, 1, 1}, packed[3], from[3] = {10, 20, 30}, position = 0;
  MPI_Aint at[5] = {8, 64, 0, -16, 4};
  MPI_Datatype types[5] = {MPI_INT, MPI_UB, MPI_INT, MPI_LB, MPI_INT};
  MPI_Datatype type = make_struct(5, lengths, at, types);
  check_bounds(type, -16, 64, 3 * (int)sizeof(int));
  OK(MPI_Pack(from, 1, type, packed, (int)sizeof packed, &position, MPI_COMM_SELF));
  CHECK(packed[0] == 30 && packed[1] == 10 && packed[2] == 20);
  OK(MPI_Type_free(&type));
}

static void corners_of_struct(void) {
  int lengths[2] = {1, 0};
  MPI_Aint at[2] = {4, 400};
  MPI_Datatype types[2] = {MPI_INT, MPI_UB}, only[1] = {MPI_UB}, type;
  MPI_Aint nine[1] = {9};
  type = make_struct(2, lengths, at, types); /* a marker of no blocks is none */
  check_bounds(type, 4, 8, 4);
  OK(MPI_Type_free(&type));
  type = make_struct(1, lengths, nine, only); /* nothing but a bound */
  check_bounds(type, 0, 9, 0);
  OK(MPI_Type_free(&type));
  type = make_struct(1, lengths, at, types); /* no marker at all */
  check_bounds(type, 4, 8, 4);
  OK(MPI_Type_free(&type));
}

/* The standard ABI (MPI 5.0, chapter 20) has no such datatypes: they are entries of a struct alone. */
static void markers_are_no_datatypes(void) {
#ifdef MPI_ABI_VERSION
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0, size = 0;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Type_get_name(MPI_UB, name, &length), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Type_get_name(MPI_LB, name, &length), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Type_size(MPI_UB, &size), MPI_ERR_TYPE);
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
#endif
}

static void strided_and_indexed_types(void) {
  MPI_Datatype type;
  int lengths[2] = {2, 1};
  MPI_Aint at[2] = {0, 40};
  OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &type));
  check_bounds(type, 0, 36, 12);
  OK(MPI_Type_free(&type));
  OK(MPI_Type_hindexed(2, lengths, at, MPI_INT, &type));
  check_bounds(type, 0, 44, 12);
  OK(MPI_Type_free(&type));
}

static int calls;
static void count_call(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++calls;
}

static void error_handlers_work(void) {
  MPI_Errhandler handler, found;
  MPI_Handler_function* function = count_call;
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Errhandler_create(function, &handler));
  OK(MPI_Errhandler_set(comm, handler));
  OK(MPI_Errhandler_get(comm, &found));
  CHECK(found == handler);
  CHECK(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm) != MPI_SUCCESS);
  CHECK_EQ(calls, 1);
  OK(MPI_Errhandler_free(&found));
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Comm_free(&comm));
}

static int deleted;
static int count_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  CHECK(value == extra);
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes_work(void) {
  int key, flag = 0, cell;
  void* value = NULL;
  MPI_Comm comm, copy;
  MPI_Delete_function* on_delete = count_delete;
  OK(MPI_Keyval_create(MPI_DUP_FN, on_delete, &key, &cell));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Attr_put(comm, key, &cell));
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Attr_get(copy, key, &value, &flag));
  CHECK(flag && value == &cell);
  OK(MPI_Attr_delete(copy, key));
  CHECK_EQ(deleted, 1);
  OK(MPI_Comm_free(&comm));
  CHECK_EQ(deleted, 2);
  OK(MPI_Comm_free(&copy));
  CHECK_EQ(deleted, 2);
  OK(MPI_Keyval_free(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  for (new_name = 0; new_name <= 1; ++new_name) {
    a_struct_with_an_upper_bound_carries_an_array();
    markers_between_entries_keep_the_order();
    corners_of_struct();
  }
  markers_are_no_datatypes();
  strided_and_indexed_types();
  error_handlers_work();
  attributes_work();
  return finish();
}
#endif
