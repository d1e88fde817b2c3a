/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Get_count is MPI_UNDEFINED where the message is no whole number of elements; MPI_Get_elements counts
 * the basic ones (MPI-4, 3.2.5, 5.1.11). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  MPI_Datatype three;
  MPI_Status status;
  int out[7] = {1, 2, 3, 4, 5, 6, 7}, in[9];
  count_t count;
  OK(MPI_Type_contiguous(3, MPI_INT, &three));
  OK(MPI_Type_commit(&three));
  OK(MPI_Sendrecv(out, 7, MPI_INT, me, 0, in, 3, three, me, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, three, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Get_elements(&status, three, &count));
  CHECK_EQ(count, 7);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 7);
  OK(MPI_Sendrecv(out, 2, three, me, 0, in, 9, MPI_INT, me, 0, MPI_COMM_WORLD, &status));
  OK(MPI_Get_count(&status, three, &count));
  CHECK_EQ(count, 2);
  OK(MPI_Get_elements(&status, three, &count));
  CHECK_EQ(count, 6);
  OK(MPI_Type_free(&three));
  return finish();
}
