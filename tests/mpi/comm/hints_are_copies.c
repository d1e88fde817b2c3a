/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.4.4: hints of a communicator: what is asked is a copy, and a communicator that is made
 * later from it without info does not inherit (since MPI-4). np: 1-4 */
#include "check.h"

static int has(MPI_Comm comm, const char* key, const char* wanted) {
  char text[64] = "";
  int flag = 0;
  MPI_Info info;
  OK(MPI_Comm_get_info(comm, &info));
  CHECK(info != MPI_INFO_NULL);
  OK(MPI_Info_get(info, key, sizeof text - 1, text, &flag));
  OK(MPI_Info_free(&info));
  return flag && strcmp(text, wanted) == 0;
}

int main(int argc, char** argv) {
  int flag = -1;
  char text[8] = "";
  MPI_Comm comm, copy;
  MPI_Info info, got;
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
  OK(MPI_Info_set(info, "mpi_assert_exact_length", "false"));
  OK(MPI_Info_set(info, "nobody knows this", "1"));
  OK(MPI_Comm_set_info(comm, info));                       /* unknown hints are no error */
  OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true")); /* the user's object, not the communicator's */
  CHECK(!has(comm, "mpi_assert_no_any_tag", "true"));
  OK(MPI_Comm_get_info(comm, &got));
  OK(MPI_Info_set(got, "mpi_assert_no_any_tag", "true"));
  OK(MPI_Info_free(&got));
  CHECK(!has(comm, "mpi_assert_no_any_tag", "true"));
  OK(MPI_Comm_set_info(comm, info));
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Comm_get_info(copy, &got));
  OK(MPI_Info_get(got, "mpi_assert_no_any_tag", sizeof text - 1, text, &flag));
#if MPI_VERSION >= 4
  CHECK(!flag || strcmp(text, "false") == 0);
#endif
  OK(MPI_Info_free(&got));
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&comm));
  return finish();
}
