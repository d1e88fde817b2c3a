/* SPDX-License-Identifier: BSD-3-Clause */
/* Types whose size, extent or displacements do not fit in 63 bits are errors when they are made, and never
 * wrong sizes; those just below are right (MPI 5.0, 5.1, 19.2). np: 1 needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
#define HUGE ((MPI_Count)1 << 40)
#define LIMIT ((MPI_Count)1 << 62)

/* Made, with this size and extent. */
static void made(int rc, MPI_Datatype* type, MPI_Count size, MPI_Count extent) {
  MPI_Count bytes, lb, distance;
  OK(rc);
  OK(MPI_Type_size_c(*type, &bytes));
  CHECK_EQ(bytes, size);
  OK(MPI_Type_get_extent_c(*type, &lb, &distance));
  CHECK_EQ(lb, 0);
  CHECK_EQ(distance, extent);
  OK(MPI_Type_free(type));
}

/* Refused, whatever the class; nothing to be freed. */
#define REFUSED(call) CHECK((call) != MPI_SUCCESS)

/* Loops: of one block at distances, and of neighbours. */
static void loops(void) {
  MPI_Datatype type, wide;
  made(MPI_Type_contiguous_c(HUGE, MPI_INT, &type), &type, 4 * HUGE, 4 * HUGE);
  made(MPI_Type_contiguous_c(LIMIT / 4, MPI_INT, &type), &type, LIMIT, LIMIT);
  REFUSED(MPI_Type_contiguous_c(LIMIT, MPI_INT, &type));
  REFUSED(MPI_Type_contiguous_c(LIMIT + 1, MPI_INT, &type)); /* 4 bytes, modulo 2^64 */
  made(MPI_Type_create_hvector_c(1 << 20, 1, HUGE, MPI_INT, &type), &type, (MPI_Count)4 << 20,
       ((1 << 20) - 1) * HUGE + 4);
  REFUSED(MPI_Type_create_hvector_c(HUGE, 1, HUGE, MPI_INT, &type));
  REFUSED(MPI_Type_create_hvector_c(HUGE, 1, -HUGE, MPI_INT, &type));
  /* Not the last block but its end is beyond: the distance is just below. */
  REFUSED(MPI_Type_create_hvector_c(3, LIMIT / 8, LIMIT - 16, MPI_INT, &type));
  REFUSED(MPI_Type_vector_c(HUGE, HUGE, HUGE, MPI_BYTE, &type));
  /* The product of three: in a type of a type of a type. */
  OK(MPI_Type_contiguous_c((MPI_Count)1 << 30, MPI_INT, &type));
  OK(MPI_Type_create_hvector_c((MPI_Count)1 << 20, 1, (MPI_Count)1 << 32, type, &wide));
  OK(MPI_Type_free(&type));
  REFUSED(MPI_Type_contiguous_c((MPI_Count)1 << 12, wide, &type));
  made(MPI_Type_contiguous_c(1 << 9, wide, &type), &type, (MPI_Count)1 << 61, (MPI_Count)1 << 61);
  OK(MPI_Type_free(&wide));
}

/* Lists: one entry too long, and entries that are too long only together or too far away. */
static void lists(void) {
  MPI_Datatype type;
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  const MPI_Count long_one[2] = {1, LIMIT}, together[2] = {LIMIT / 4, LIMIT / 4}, one_each[2] = {1, 1};
  const MPI_Count near[2] = {0, 64}, far[2] = {0, LIMIT}, far_back[2] = {-LIMIT, LIMIT};
  REFUSED(MPI_Type_indexed_c(2, long_one, near, MPI_INT, &type));
  REFUSED(MPI_Type_indexed_c(2, one_each, far, MPI_INT, &type));
  REFUSED(MPI_Type_create_hindexed_c(2, long_one, near, MPI_INT, &type));
  REFUSED(MPI_Type_create_hindexed_c(2, together, near, MPI_DOUBLE, &type));
  REFUSED(MPI_Type_create_hindexed_c(2, one_each, far_back, MPI_INT, &type));
  REFUSED(MPI_Type_create_struct_c(2, long_one, near, types, &type));
  REFUSED(MPI_Type_create_struct_c(2, one_each, far_back, types, &type));
  REFUSED(MPI_Type_create_indexed_block_c(2, LIMIT, near, MPI_INT, &type));
  REFUSED(MPI_Type_create_hindexed_block_c(2, 1, far_back, MPI_INT, &type));
}

static void arrays(void) {
  MPI_Datatype type;
  const MPI_Count sizes[3] = {HUGE, HUGE, 4}, parts[3] = {1, 1, 1}, starts[3] = {0, 0, 0};
  REFUSED(MPI_Type_create_subarray_c(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
  REFUSED(MPI_Type_create_resized_c(MPI_INT, LIMIT, LIMIT + 1, &type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  loops();
  lists();
  arrays();
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
