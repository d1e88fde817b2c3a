/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1.13: what a type was made from can be asked, and the same type made again from the
 * answers. np: 1 */
#include "check.h"

static void check_struct(void) {
  int lengths[2] = {2, 3}, integers[3], ni, na, nd, combiner;
  MPI_Aint at[2] = {16, 0}, addresses[2];
  MPI_Datatype inner, made, types[2], parts[2];
  OK(MPI_Type_contiguous(4, MPI_CHAR, &inner));
  types[0] = inner;
  types[1] = MPI_INT;
  OK(MPI_Type_create_struct(2, lengths, at, types, &made));
  OK(MPI_Type_free(&inner));
  OK(MPI_Type_get_envelope(made, &ni, &na, &nd, &combiner));
  CHECK_EQ(ni, 3);
  CHECK_EQ(na, 2);
  CHECK_EQ(nd, 2);
  CHECK_EQ(combiner, MPI_COMBINER_STRUCT);
  OK(MPI_Type_get_contents(made, 3, 2, 2, integers, addresses, parts));
  CHECK_EQ(integers[0], 2);
  CHECK_EQ(integers[1], 2);
  CHECK_EQ(integers[2], 3);
  CHECK_EQ(addresses[0], 16);
  CHECK_EQ(addresses[1], 0);
  CHECK(parts[1] == MPI_INT);
  OK(MPI_Type_get_envelope(parts[0], &ni, &na, &nd, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_CONTIGUOUS);
  OK(MPI_Type_free(&parts[0]));
  OK(MPI_Type_free(&made));
}

static void check_order_of_arguments(void) {
  int sizes[2] = {6, 8}, parts[2] = {2, 3}, starts[2] = {1, 4}, integers[8], ni, na, nd, combiner, i;
  const int want[8] = {2, 6, 8, 2, 3, 1, 4, MPI_ORDER_FORTRAN};
  MPI_Aint address;
  MPI_Datatype made, old;
  OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &made));
  OK(MPI_Type_get_envelope(made, &ni, &na, &nd, &combiner));
  CHECK_EQ(ni, 8);
  CHECK_EQ(na, 0);
  CHECK_EQ(combiner, MPI_COMBINER_SUBARRAY);
  OK(MPI_Type_get_contents(made, 8, 0, 1, integers, &address, &old));
  for (i = 0; i < 8; ++i) CHECK_EQ(integers[i], want[i]);
  CHECK(old == MPI_DOUBLE);
  OK(MPI_Type_free(&made));
  OK(MPI_Type_create_hvector(3, 2, -40, MPI_INT, &made));
  OK(MPI_Type_get_contents(made, 2, 1, 1, integers, &address, &old));
  CHECK_EQ(integers[0], 3);
  CHECK_EQ(integers[1], 2);
  CHECK_EQ(address, -40);
  OK(MPI_Type_free(&made));
}

static void check_large_counts(void) {
  MPI_Count ni, na, nc, nd, counts[3];
  MPI_Count size;
  int combiner, small, unused;
  MPI_Aint address;
  MPI_Datatype made, old;
  OK(MPI_Type_vector_c((MPI_Count)1 << 33, 1, 2, MPI_BYTE, &made));
  OK(MPI_Type_size_c(made, &size));
  CHECK_EQ(size, (MPI_Count)1 << 33);
  OK(MPI_Type_size(made, &small));
  CHECK_EQ(small, MPI_UNDEFINED);
  OK(MPI_Type_get_envelope_c(made, &ni, &na, &nc, &nd, &combiner));
  CHECK_EQ(ni, 0);
  CHECK_EQ(na, 0);
  CHECK_EQ(nc, 3);
  CHECK_EQ(nd, 1);
  CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
  OK(MPI_Type_get_contents_c(made, 0, 0, 3, 1, &unused, &address, counts, &old));
  CHECK_EQ(counts[0], (MPI_Count)1 << 33);
  CHECK_EQ(counts[2], 2);
  OK(MPI_Type_free(&made));
}

/* Of a struct with a large count, displacements are counts, too, and stand behind them. */
static void check_large_struct(void) {
  const MPI_Count lengths[2] = {(MPI_Count)1 << 33, 3}, at[2] = {0, (MPI_Count)1 << 34};
  const MPI_Count want[5] = {2, lengths[0], lengths[1], at[0], at[1]};
  const MPI_Datatype types[2] = {MPI_BYTE, MPI_INT};
  MPI_Count ni, na, nc, nd, counts[5];
  int combiner, unused, i;
  MPI_Aint address;
  MPI_Datatype made, parts[2];
  OK(MPI_Type_create_struct_c(2, lengths, at, types, &made));
  OK(MPI_Type_get_envelope_c(made, &ni, &na, &nc, &nd, &combiner));
  CHECK_EQ(ni, 0);
  CHECK_EQ(na, 0);
  CHECK_EQ(nc, 5);
  CHECK_EQ(nd, 2);
  CHECK_EQ(combiner, MPI_COMBINER_STRUCT);
  OK(MPI_Type_get_contents_c(made, 0, 0, 5, 2, &unused, &address, counts, parts));
  for (i = 0; i < 5; ++i) CHECK_EQ(counts[i], want[i]);
  CHECK(parts[0] == MPI_BYTE && parts[1] == MPI_INT);
  CHECK_ERROR(MPI_Type_get_contents_c(made, 0, 0, 4, 2, &unused, &address, counts, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents_c(made, 0, 0, -5, 2, &unused, &address, counts, parts), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Type_get_contents(made, 9, 9, 9, &unused, &address, parts), MPI_ERR_TYPE);
  OK(MPI_Type_free(&made));
}

/* Arrays that are too short, or missing, are errors; missing where nothing is to be put they are not. */
static void check_room(void) {
  int lengths[2] = {2, 3}, integers[3];
  MPI_Aint at[2] = {16, 0}, addresses[2];
  MPI_Datatype made, types[2] = {MPI_INT, MPI_INT}, parts[2];
  OK(MPI_Type_create_struct(2, lengths, at, types, &made));
  CHECK_ERROR(MPI_Type_get_contents(made, 2, 2, 2, integers, addresses, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents(made, 3, 1, 2, integers, addresses, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents(made, 3, 2, 1, integers, addresses, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents(made, 3, 2, 2, NULL, addresses, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents(made, 3, 2, 2, integers, NULL, parts), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Type_get_contents(made, 3, 2, 2, integers, addresses, NULL), MPI_ERR_ARG);
  OK(MPI_Type_free(&made));
  OK(MPI_Type_contiguous(4, MPI_INT, &made));
  OK(MPI_Type_get_contents(made, 1, 0, 1, integers, NULL, parts));
  CHECK_EQ(integers[0], 4);
  CHECK(parts[0] == MPI_INT);
  OK(MPI_Type_free(&made));
}

int main(void) {
  int ni, na, nd, combiner, code, value;
  MPI_Aint address;
  MPI_Datatype old;
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  OK(MPI_Type_get_envelope(MPI_DOUBLE, &ni, &na, &nd, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_NAMED);
  CHECK_EQ(ni + na + nd, 0);
  code = MPI_Type_get_contents(MPI_DOUBLE, 1, 1, 1, &value, &address, &old);
  CHECK_EQ(check_class(code), MPI_ERR_TYPE);
  check_struct();
  check_order_of_arguments();
  check_large_counts();
  check_large_struct();
  check_room();
  MPI_Finalize();
  return 0;
}
