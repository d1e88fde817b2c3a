/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_dup_with_info and MPI_Comm_idup_with_info give the duplicate its hints, read at the call; without
 * them it has none, whatever its parent has (MPI 5.0, 7.4.2, 7.4.4). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static int hint_is(MPI_Comm comm, const char* want) {
  MPI_Info info;
  char value[32] = "";
  int flag, room = sizeof value;
  OK(MPI_Comm_get_info(comm, &info));
  OK(MPI_Info_get_string(info, "mpi_assert_no_any_tag", &room, value, &flag));
  OK(MPI_Info_free(&info));
  return strcmp(flag ? value : "false", want) == 0; /* false is what it means without the hint */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info info;
  MPI_Comm parent, copies[4];
  MPI_Request requests[2];
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
  OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &parent));
  const int kept = hint_is(parent, "true"); /* an MPI may ignore it, but then always */
  OK(MPI_Comm_dup(parent, &copies[0]));
  OK(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &copies[1]));
  OK(MPI_Comm_idup_with_info(parent, info, &copies[2], &requests[0]));
  OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
  OK(MPI_Comm_idup_with_info(parent, info, &copies[3], &requests[1]));
  OK(MPI_Info_free(&info)); /* read at the call */
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK(hint_is(copies[0], "false"));
  CHECK(hint_is(copies[1], "false"));
  CHECK_EQ(hint_is(copies[2], "true"), kept);
  CHECK(hint_is(copies[3], "false"));
  for (int i = 0; i < 4; ++i) OK(MPI_Comm_free(&copies[i]));
  OK(MPI_Comm_free(&parent));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
