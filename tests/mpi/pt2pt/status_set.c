/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Status_set_* stores is what the queries give, partial elements included (MPI 5.0, 3.2.5, 13.3). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Status status;
  MPI_Datatype pair;
  MPI_Count elements;
  count_t count;
  int flag;
  memset(&status, 0, sizeof status);
  OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  OK(MPI_Type_commit(&pair));
  OK(MPI_Status_set_elements(&status, pair, 5));
  OK(MPI_Get_elements(&status, pair, &count));
  CHECK_EQ(count, 5);
  OK(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, MPI_UNDEFINED); /* two and a half pairs */
  OK(MPI_Status_set_elements(&status, pair, 6));
  OK(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, 3);
  OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)3 << 32));
  OK(MPI_Get_elements_x(&status, MPI_BYTE, &elements));
  CHECK_EQ(elements, (MPI_Count)3 << 32);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, sizeof count > 4 ? elements : MPI_UNDEFINED); /* does not fit into an int */
  OK(MPI_Status_set_elements(&status, MPI_INT, 0));
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  for (int wanted = 1; wanted >= 0; --wanted) {
    OK(MPI_Status_set_cancelled(&status, wanted));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(!!flag, wanted);
  }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  int value;
  OK(MPI_Status_set_source(&status, 4));
  OK(MPI_Status_set_tag(&status, 5));
  OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
  CHECK_EQ(status.MPI_SOURCE, 4);
  CHECK_EQ(status.MPI_TAG, 5);
  CHECK_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
  OK(MPI_Status_get_source(&status, &value));
  CHECK_EQ(value, 4);
  OK(MPI_Status_get_tag(&status, &value));
  CHECK_EQ(value, 5);
  OK(MPI_Status_get_error(&status, &value));
  CHECK_EQ(value, MPI_ERR_TRUNCATE);
  OK(MPI_Status_set_elements_c(&status, pair, (MPI_Count)1 << 33));
  OK(MPI_Get_elements_c(&status, pair, &elements));
  CHECK_EQ(elements, (MPI_Count)1 << 33);
#endif
  OK(MPI_Type_free(&pair));
  return finish();
}
