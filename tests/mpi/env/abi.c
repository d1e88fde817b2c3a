/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ABI says of itself and what a Fortran binding tells it; handles of sessions as integers
 * (MPI 5.0, 20.1 - 20.4, 19.3.4). np: 1 needs: mpi-5 */
#include "check.h"

#if MPI_VERSION >= 5
static long number_of(MPI_Info info, const char* key) {
  char value[32] = "";
  int flag, room = sizeof value;
  OK(MPI_Info_get_string(info, key, &room, value, &flag));
  CHECK(flag);
  return strtol(value, NULL, 10);
}

static void fortran(void) {
  MPI_Info info, got;
  int yes = 1, no = 0, is_set = -1, got_yes = 9, got_no = 9;
  OK(MPI_Abi_get_fortran_booleans((int)sizeof yes, &got_yes, &got_no, &is_set));
  CHECK_EQ(is_set, 0);
  OK(MPI_Abi_set_fortran_booleans((int)sizeof yes, &yes, &no));
  OK(MPI_Abi_get_fortran_booleans((int)sizeof yes, &got_yes, &got_no, &is_set));
  CHECK(is_set && got_yes == 1 && got_no == 0);
  CHECK_ERROR(MPI_Abi_set_fortran_booleans((int)sizeof yes, &no, &yes), MPI_ERR_ABI);
  CHECK_ERROR(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
  OK(MPI_Abi_get_fortran_booleans(1, &got_yes, &got_no, &is_set));
  CHECK_EQ(is_set, 0); /* those of another size are not known */
  OK(MPI_Abi_get_fortran_info(&got));
  CHECK(got == MPI_INFO_NULL);
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_integer_size", "4"));
  OK(MPI_Abi_set_fortran_info(info));
  CHECK_ERROR(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  OK(MPI_Info_set(info, "mpi_integer_size", "8")); /* the caller's object, not what was told */
  OK(MPI_Info_free(&info));
  OK(MPI_Abi_get_fortran_info(&got));
  CHECK_EQ(number_of(got, "mpi_integer_size"), 4);
  OK(MPI_Info_free(&got));
}

int main(int argc, char** argv) {
  int major = -1, minor = -1;
  MPI_Info info;
  MPI_Session session;
  OK(MPI_Abi_get_version(&major, &minor));
  CHECK_EQ(major, MPI_ABI_VERSION);
  CHECK_EQ(minor, MPI_ABI_SUBVERSION);
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Abi_get_info(&info));
  CHECK_EQ(number_of(info, "mpi_aint_size"), sizeof(MPI_Aint));
  CHECK_EQ(number_of(info, "mpi_count_size"), sizeof(MPI_Count));
  CHECK_EQ(number_of(info, "mpi_offset_size"), sizeof(MPI_Offset));
  OK(MPI_Info_free(&info));
  fortran();
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
  CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
  OK(MPI_Session_finalize(&session));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
