/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 5.1.5: absolute addresses, their differences and sums, and a type made of them that is
 * used with MPI_BOTTOM. np: 1 */
#include "check.h"

static struct {
  int number;
  double values[5];
} from = {42, {1, 2, 3, 4, 5}}, to;

static MPI_Datatype with_absolute_addresses(void* number, void* values) {
  const int lengths[2] = {1, 5};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Aint places[2];
  MPI_Datatype type;
  OK(MPI_Get_address(number, &places[0]));
  OK(MPI_Get_address(values, &places[1]));
  OK(MPI_Type_create_struct(2, lengths, places, types, &type));
  OK(MPI_Type_commit(&type));
  return type;
}

int main(int argc, char** argv) {
  MPI_Aint first, third;
  MPI_Datatype send, receive;
  MPI_Init(&argc, &argv);
  OK(MPI_Get_address(&from.values[0], &first));
  OK(MPI_Get_address(&from.values[2], &third));
  CHECK_EQ(MPI_Aint_diff(third, first), 2 * (long long)sizeof(double));
  CHECK_EQ(MPI_Aint_diff(first, third), -2 * (long long)sizeof(double));
  CHECK(MPI_Aint_add(first, 2 * sizeof(double)) == third);
  OK(MPI_Get_address(MPI_BOTTOM, &first));
  CHECK(MPI_Aint_add(first, MPI_Aint_diff(third, first)) == third);
  send = with_absolute_addresses(&from.number, from.values);
  receive = with_absolute_addresses(&to.number, to.values);
  OK(MPI_Sendrecv(MPI_BOTTOM, 1, send, 0, 0, MPI_BOTTOM, 1, receive, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(to.number, 42);
  for (int i = 0; i < 5; ++i) CHECK(to.values[i] == from.values[i]);
  OK(MPI_Type_free(&send));
  OK(MPI_Type_free(&receive));
  return finish();
}
