/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 6.9.5 and 6.9.7: MPI_Reduce_local applies an operation to two buffers of one process, in
 * this order, and MPI_Op_commutative tells whether the order counts. np: 1 */
#include "check.h"

/* Neither commutative nor the same the other way round: twice the left one and the right one. */
static void twice_and(void* in, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == MPI_INT);
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] = 2 * ((int*)in)[i] + ((int*)inout)[i];
}

static void predefined(void) {
  const int left[3] = {5, -3, 6};
  int right[3] = {2, 9, 3};
  struct {
    double value;
    int index;
  } in = {1.5, 7}, inout = {1.5, 3};
  OK(MPI_Reduce_local(left, right, 3, MPI_INT, MPI_SUM));
  CHECK(right[0] == 7 && right[1] == 6 && right[2] == 9);
  OK(MPI_Reduce_local(left, right, 2, MPI_INT, MPI_MIN));
  CHECK(right[0] == 5 && right[1] == -3 && right[2] == 9);
  OK(MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE_INT, MPI_MAXLOC));
  CHECK(inout.value == 1.5 && inout.index == 3); /* the lower index of equal values */
  OK(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
}

static void own(void) {
  const int left[2] = {1, 2};
  int right[2] = {10, 20}, commute = -1;
  MPI_Op op;
  OK(MPI_Op_create(twice_and, 0, &op));
  OK(MPI_Reduce_local(left, right, 2, MPI_INT, op));
  CHECK(right[0] == 12 && right[1] == 24);
  OK(MPI_Op_commutative(op, &commute));
  CHECK(!commute);
  OK(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
  OK(MPI_Op_create(twice_and, 17, &op)); /* any true value */
  OK(MPI_Op_commutative(op, &commute));
  CHECK(commute);
  OK(MPI_Op_free(&op));
}

static void commutativity(void) {
  const MPI_Op all[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  int commute;
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    commute = -1;
    OK(MPI_Op_commutative(all[i], &commute));
    CHECK_EQ(commute, 1);
  }
  /* a REPLACE b is b, a NO_OP b is a */
  OK(MPI_Op_commutative(MPI_REPLACE, &commute));
  CHECK_EQ(commute, 0);
  OK(MPI_Op_commutative(MPI_NO_OP, &commute));
  CHECK_EQ(commute, 0);
}

static void errors(void) {
  int in = 1, inout = 2, commute;
  float real = 1, other = 2;
  MPI_Op sum = MPI_SUM;
  CHECK_ERROR(MPI_Reduce_local(&real, &other, 1, MPI_FLOAT, MPI_BAND), MPI_ERR_OP);
  CHECK_ERROR(MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_MAXLOC), MPI_ERR_OP);
  CHECK_ERROR(MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP); /* one-sided only */
  CHECK_ERROR(MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
  CHECK_ERROR(MPI_Reduce_local(&in, &inout, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  CHECK_ERROR(MPI_Op_commutative(MPI_OP_NULL, &commute), MPI_ERR_OP);
  CHECK_ERROR(MPI_Op_free(&sum), MPI_ERR_OP);
  CHECK_EQ(inout, 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  predefined();
  own();
  commutativity();
  errors();
  return finish();
}
