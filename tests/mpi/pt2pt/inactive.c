/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 3.7.3 and 3.7.5: inactive persistent requests and MPI_REQUEST_NULL are passed over by the
 * functions that wait; if there is nothing else they return at once with an empty status. np: 1 */
#include "check.h"

static void check_empty(const MPI_Status* status) {
  int count = -1, cancelled = -1;
  CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Get_count(status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  OK(MPI_Test_cancelled(status, &cancelled));
  CHECK(!cancelled);
}

static void none_active(MPI_Request* requests, int count) {
  int index, flag, outcount, indices[4];
  MPI_Status status, statuses[4];
  memset(&status, 0x55, sizeof status);
  index = 0;
  OK(MPI_Waitany(count, requests, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&status);
  memset(&status, 0x55, sizeof status);
  index = flag = 0;
  OK(MPI_Testany(count, requests, &index, &flag, &status));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  check_empty(&status);
  outcount = 0;
  OK(MPI_Waitsome(count, requests, &outcount, indices, statuses));
  CHECK_EQ(outcount, MPI_UNDEFINED);
  outcount = 0;
  OK(MPI_Testsome(count, requests, &outcount, indices, statuses));
  CHECK_EQ(outcount, MPI_UNDEFINED);
  memset(statuses, 0x55, sizeof statuses);
  OK(MPI_Waitall(count, requests, statuses));
  for (int i = 0; i < count; ++i) check_empty(&statuses[i]);
  memset(statuses, 0x55, sizeof statuses);
  flag = 0;
  OK(MPI_Testall(count, requests, &flag, statuses));
  CHECK(flag);
  for (int i = 0; i < count; ++i) check_empty(&statuses[i]);
}

static void one_inactive(MPI_Request* request) {
  int flag = 0;
  MPI_Status status;
  memset(&status, 0x55, sizeof status);
  OK(MPI_Wait(request, &status));
  check_empty(&status);
  memset(&status, 0x55, sizeof status);
  OK(MPI_Test(request, &flag, &status));
  CHECK(flag);
  check_empty(&status);
  memset(&status, 0x55, sizeof status);
  flag = 0;
  OK(MPI_Request_get_status(*request, &flag, &status));
  CHECK(flag);
  check_empty(&status);
}

int main(int argc, char** argv) {
  int sent = 3, got = 0, index = -1, outcount = -1, indices[3];
  MPI_Status status;
  MPI_Request requests[3];
  MPI_Init(&argc, &argv);
  OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
  requests[1] = MPI_REQUEST_NULL;
  OK(MPI_Send_init(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[2]));
  none_active(requests, 3);
  none_active(NULL, 0);
  one_inactive(&requests[0]);
  one_inactive(&requests[1]);

  OK(MPI_Startall(1, &requests[0]));
  OK(MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
  OK(MPI_Waitany(3, requests, &index, &status)); /* the only active one; it stays allocated */
  CHECK_EQ(index, 0);
  CHECK_EQ(status.MPI_SOURCE, 0);
  CHECK(requests[0] != MPI_REQUEST_NULL);
  none_active(requests, 3);

  OK(MPI_Start(&requests[2]));
  OK(MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  OK(MPI_Waitsome(3, requests, &outcount, indices, MPI_STATUSES_IGNORE));
  CHECK_EQ(outcount, 1);
  CHECK_EQ(indices[0], 2);
  CHECK(requests[2] != MPI_REQUEST_NULL);
  none_active(requests, 3);
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[2]));
  CHECK(requests[2] == MPI_REQUEST_NULL);
  return finish();
}
