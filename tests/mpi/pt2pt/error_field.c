/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 3.2.5: the MPI_ERROR field of a status is changed only by a function that returns several
 * statuses, and only if it returns MPI_ERR_IN_STATUS. */
#include "check.h"

enum { kUntouched = 4711 };

/* Sends to and receives from the same process with two requests. */
static void start(MPI_Request requests[2], int* sent, int* got) {
  OK(MPI_Irecv(got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
  OK(MPI_Isend(sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]));
}

static void mark(MPI_Status* statuses, int count) {
  for (int i = 0; i < count; ++i) statuses[i].MPI_ERROR = kUntouched;
}

static void one_status(void) {
  int sent = 1, got = 0, index, flag = 0;
  MPI_Request requests[2];
  MPI_Status status;
  mark(&status, 1);
  OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
  CHECK_EQ(status.MPI_ERROR, kUntouched);
  start(requests, &sent, &got);
  OK(MPI_Wait(&requests[0], &status));
  CHECK_EQ(status.MPI_ERROR, kUntouched);
  OK(MPI_Waitany(2, requests, &index, &status));
  CHECK_EQ(status.MPI_ERROR, kUntouched);
  start(requests, &sent, &got);
  while (!flag) OK(MPI_Test(&requests[0], &flag, &status));
  CHECK_EQ(status.MPI_ERROR, kUntouched);
  OK(MPI_Wait(&requests[1], &status));
  CHECK_EQ(status.MPI_ERROR, kUntouched);
}

static void several_statuses(void) {
  int sent = 1, got = 0, flag = 0, count = 0, done = 0, indices[2];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  mark(statuses, 2);
  start(requests, &sent, &got);
  OK(MPI_Waitall(2, requests, statuses));
  CHECK(statuses[0].MPI_ERROR == kUntouched && statuses[1].MPI_ERROR == kUntouched);
  CHECK_EQ(statuses[0].MPI_SOURCE, 0);
  start(requests, &sent, &got);
  while (!flag) OK(MPI_Testall(2, requests, &flag, statuses));
  CHECK(statuses[0].MPI_ERROR == kUntouched && statuses[1].MPI_ERROR == kUntouched);
  start(requests, &sent, &got);
  while (done < 2) {
    OK(MPI_Waitsome(2, requests, &count, indices, statuses));
    CHECK(statuses[0].MPI_ERROR == kUntouched && statuses[1].MPI_ERROR == kUntouched);
    done += count;
  }
}

/* With an error every status gets a field: of its error, or MPI_SUCCESS. */
static void with_an_error(void) {
  int sent[2] = {1, 2}, got[2] = {0, 0};
  MPI_Request requests[4];
  MPI_Status statuses[4];
  mark(statuses, 4);
  OK(MPI_Irecv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
  OK(MPI_Irecv(&got[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]));
  OK(MPI_Isend(sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[2]));
  OK(MPI_Isend(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[3])); /* too long for its receive */
  CHECK_ERROR(MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  CHECK_EQ(check_class(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  one_status();
  several_statuses();
  with_an_error();
  return finish();
}
