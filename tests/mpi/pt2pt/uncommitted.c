/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype has to be committed before it is used in a message (MPI-4, 5.1.9). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Datatype type;
  int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, 0, 0};
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
  CHECK_ERROR(MPI_Send(out, 1, type, me, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_commit(&type)); /* a second time is allowed */
  OK(MPI_Sendrecv(out, 1, type, me, 0, in, 1, type, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(in[0], 1);
  CHECK_EQ(in[1], 0);
  CHECK_EQ(in[2], 3);
  OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
  return finish();
}
