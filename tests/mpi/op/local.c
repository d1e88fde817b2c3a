/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_local, and what an operation says of itself; user operations with large counts
 * (MPI 5.0, 6.9.5, 6.9.7). np: 1 */
#include "check.h"

#if MPI_VERSION >= 4
static void larger(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  const int* const a = in;
  int* const b = inout;
  CHECK(*type == MPI_INT);
  for (MPI_Count i = 0; i < *count; ++i)
    if (a[i] > b[i]) b[i] = a[i];
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int in[3] = {1, 5, 3}, inout[3] = {2, 4, 6}, commutes = 0;
  OK(MPI_Reduce_local(in, inout, 3, MPI_INT, MPI_SUM));
  CHECK(inout[0] == 3 && inout[1] == 9 && inout[2] == 9);
  OK(MPI_Reduce_local(in, inout, 0, MPI_INT, MPI_SUM));
  CHECK_EQ(inout[0], 3);
  OK(MPI_Op_commutative(MPI_SUM, &commutes));
  CHECK(commutes);
#if MPI_VERSION >= 4
  MPI_Op op;
  OK(MPI_Op_create_c(larger, 0, &op));
  OK(MPI_Op_commutative(op, &commutes));
  CHECK(!commutes);
  in[2] = 100;
  OK(MPI_Reduce_local_c(in, inout, 3, MPI_INT, op));
  CHECK(inout[0] == 3 && inout[1] == 9 && inout[2] == 100);
  OK(MPI_Op_free(&op));
#endif
  return finish();
}
