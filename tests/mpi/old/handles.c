/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 19.3.4 and 19.3.5: handles and statuses as Fortran integers and back.
 * np: 1-4 */
#include "check.h"

static void predefined_handles_survive(void) {
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
  CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
  CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
  CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
  CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
  CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
  CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
}

/* The handle that comes back is the object: a message travels over it. */
static void made_handles_survive(void) {
  MPI_Comm comm, same;
  MPI_Datatype type, same_type;
  MPI_Fint number;
  int sum = 0, one[2] = {1, 1}, size;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  number = MPI_Comm_c2f(comm);
  same = MPI_Comm_f2c(number);
  CHECK(same == comm);
  OK(MPI_Allreduce(one, &sum, 1, MPI_INT, MPI_SUM, same));
  CHECK_EQ(sum, world_size());
  OK(MPI_Comm_free(&comm));
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  same_type = MPI_Type_f2c(MPI_Type_c2f(type));
  OK(MPI_Type_size(same_type, &size));
  CHECK_EQ(size, 2 * (int)sizeof(int));
  OK(MPI_Type_free(&type));
}

/* A received status of three ints with an error, and the same from `back`. */
static void make_status(MPI_Status* status) {
  int sent[3] = {1, 2, 3}, got[4];
  OK(MPI_Sendrecv(sent, 3, MPI_INT, 0, 17, got, 4, MPI_INT, 0, 17, MPI_COMM_SELF, status));
  OK(MPI_Status_set_cancelled(status, 1));
  status->MPI_ERROR = MPI_ERR_TRUNCATE;
}

static void is_that_status(const MPI_Status* back) {
  int count = -1, cancelled = 0;
  CHECK_EQ(back->MPI_SOURCE, 0);
  CHECK_EQ(back->MPI_TAG, 17);
  CHECK_EQ(back->MPI_ERROR, MPI_ERR_TRUNCATE);
  OK(MPI_Get_count(back, MPI_INT, &count));
  CHECK_EQ(count, 3);
  OK(MPI_Test_cancelled(back, &cancelled));
  CHECK(cancelled);
}

static void a_status_survives(void) {
  MPI_Fint fortran[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
  MPI_F08_status f08;
  MPI_Status status, back;
  make_status(&status);
  OK(MPI_Status_c2f(&status, fortran));
  memset(&back, 0x55, sizeof back);
  OK(MPI_Status_f2c(fortran, &back));
  is_that_status(&back);

  memset(&f08, 0x55, sizeof f08);
  OK(MPI_Status_c2f08(&status, &f08));
  CHECK_EQ(f08.MPI_SOURCE, 0);
  CHECK_EQ(f08.MPI_TAG, 17);
  CHECK_EQ(f08.MPI_ERROR, MPI_ERR_TRUNCATE);
  memset(&back, 0x55, sizeof back);
  OK(MPI_Status_f082c(&f08, &back));
  is_that_status(&back);

  memset(&f08, 0x55, sizeof f08);
  OK(PMPI_Status_f2f08(fortran, &f08));
  OK(PMPI_Status_f082f(&f08, again));
  CHECK(memcmp(fortran, again, sizeof fortran) == 0);
}

/* Such a call is erroneous; it changes nothing. */
static void no_status_is_refused(void) {
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  MPI_F08_status f08;
  MPI_Status status;
  make_status(&status);
  CHECK_EQ(MPI_Status_c2f(MPI_STATUS_IGNORE, fortran), MPI_ERR_ARG);
  CHECK_EQ(MPI_Status_c2f08(MPI_STATUS_IGNORE, &f08), MPI_ERR_ARG);
  CHECK_EQ(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &status), MPI_ERR_ARG);
  CHECK_EQ(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &status), MPI_ERR_ARG);
  is_that_status(&status);
}

int main(int argc, char** argv) {
  OK(MPI_Init(&argc, &argv));
  predefined_handles_survive();
  made_handles_survive();
  a_status_survives();
  no_status_is_refused();
  return finish();
}
