/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1.11: a message that ends within a type: MPI_Get_count gives MPI_UNDEFINED,
 * MPI_Get_elements the basic elements, unless it ends within one. np: 1 */
#include "check.h"

/* Sends `count` of `type` to itself; the status of its receive as `room` of `as`. */
static MPI_Status message(int count, MPI_Datatype type, int room, MPI_Datatype as) {
  char from[256] = {0}, to[1024];
  MPI_Status status;
  OK(MPI_Sendrecv(from, count, type, 0, 0, to, room, as, 0, 0, MPI_COMM_SELF, &status));
  return status;
}

static void check(MPI_Status status, MPI_Datatype type, int want_count, int want_elements) {
  int count = -7, elements = -7;
  MPI_Count wide = -7;
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, want_count);
  OK(MPI_Get_elements(&status, type, &elements));
  CHECK_EQ(elements, want_elements);
  OK(MPI_Get_elements_x(&status, type, &wide));
  CHECK_EQ(wide, want_elements);
}

static void pairs(void) {
  MPI_Datatype pair;
  OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  OK(MPI_Type_commit(&pair));
  check(message(4, MPI_INT, 5, pair), pair, 2, 4);
  check(message(3, MPI_INT, 5, pair), pair, MPI_UNDEFINED, 3);
  check(message(1, MPI_INT, 5, pair), pair, MPI_UNDEFINED, 1);
  check(message(0, MPI_INT, 5, pair), pair, 0, 0);
  OK(MPI_Type_free(&pair));
}

/* An int and two doubles, twice nested: elements are counted through all levels. */
static void mixed(void) {
  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype record, two, one_and_int, part[2];
  const MPI_Aint after[2] = {0, 24};
  const int once[2] = {1, 1};
  OK(MPI_Type_create_struct(2, lengths, places, parts, &record));
  OK(MPI_Type_contiguous(2, record, &two));
  OK(MPI_Type_commit(&record));
  OK(MPI_Type_commit(&two));
  part[0] = record;
  part[1] = MPI_INT;
  OK(MPI_Type_create_struct(2, once, after, part, &one_and_int));
  OK(MPI_Type_commit(&one_and_int));
  check(message(3, record, 3, two), two, MPI_UNDEFINED, 9);
  check(message(2, record, 3, two), two, 1, 6);
  check(message(1, one_and_int, 3, two), two, MPI_UNDEFINED, 4);
  check(message(1, one_and_int, 3, two), record, MPI_UNDEFINED, 4);
  OK(MPI_Type_free(&record));
  OK(MPI_Type_free(&two));
  OK(MPI_Type_free(&one_and_int));
}

/* The status of nothing is nothing of any type, also of one without size. */
static void nothing(void) {
  MPI_Datatype empty;
  MPI_Status status;
  OK(MPI_Type_contiguous(0, MPI_INT, &empty));
  OK(MPI_Type_commit(&empty));
  check(message(3, empty, 5, empty), empty, 0, 0);
  OK(MPI_Recv(&status, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &status));
  check(status, MPI_INT, 0, 0);
  OK(MPI_Type_free(&empty));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  pairs();
  mixed();
  nothing();
  return finish();
}
