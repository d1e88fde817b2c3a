/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 3.7.3, 3.8.1 and 3.8.4: calls that do not wait see what was sent before a barrier,
 * however many messages lie before it, and a receive whose message is here is not cancelled. The standard
 * asks this of calls that are repeated; programs look once after a barrier, and other MPIs let them.
 * np: 2+ */
#include "check.h"

enum { ahead = 60, wanted = 2 };
typedef void look_fn(MPI_Request* request);

static void with_iprobe(MPI_Request* unused) {
  int flag = 0, value = 0;
  (void)unused;
  OK(MPI_Iprobe(1, wanted, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  OK(MPI_Recv(&value, 1, MPI_INT, 1, wanted, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(value, 7);
}

static void with_improbe(MPI_Request* unused) {
  int flag = 0, value = 0;
  MPI_Message message;
  (void)unused;
  OK(MPI_Improbe(1, wanted, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  CHECK_EQ(value, 7);
}

static void with_test(MPI_Request* request) {
  int flag = 0;
  OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
}

static void with_testany(MPI_Request* request) {
  int flag = 0, index = -1;
  OK(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  CHECK_EQ(index, 0);
}

static void with_testall(MPI_Request* request) {
  int flag = 0;
  OK(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE));
  CHECK_EQ(flag, 1);
}

static void with_testsome(MPI_Request* request) {
  int count = 0, index = -1;
  OK(MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, 1);
}

static void with_get_status(MPI_Request* request) {
  int flag = 0;
  OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void with_cancel(MPI_Request* request) {
  MPI_Status status;
  int flag = 1;
  OK(MPI_Cancel(request));
  OK(MPI_Wait(request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);
  CHECK_EQ(status.MPI_TAG, wanted);
}

/* Rank 1 has sent all when rank 0 looks, once. */
static void look_after_barrier(look_fn* look, int posted) {
  const int seven = 7;
  int value = 0, other;
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank() == 0 && posted) OK(MPI_Irecv(&value, 1, MPI_INT, 1, wanted, MPI_COMM_WORLD, &request));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank() == 1) {
    for (int i = 0; i < ahead; ++i) OK(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    OK(MPI_Send(&seven, 1, MPI_INT, 0, wanted, MPI_COMM_WORLD));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank() == 0) {
    look(&request);
    if (posted) CHECK_EQ(value, 7);
    for (int i = 0; i < ahead; ++i) {
      OK(MPI_Recv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(other, i);
    }
  }
}

/* A send to oneself that has returned. */
static void sent_to_self(void) {
  const int seven = 7, rank = world_rank();
  int value = 0;
  MPI_Request request;
  MPI_Status status;
  OK(MPI_Irecv(&value, 1, MPI_INT, rank, wanted, MPI_COMM_WORLD, &request));
  OK(MPI_Send(&seven, 1, MPI_INT, rank, wanted, MPI_COMM_WORLD));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  int flag = 1;
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);
  CHECK_EQ(value, 7);
}

int main(int argc, char** argv) {
  static look_fn* const looks[] = {with_test,     with_testany,    with_testall,
                                   with_testsome, with_get_status, with_cancel};
  MPI_Init(&argc, &argv);
  for (int turn = 0; turn < 3; ++turn) {
    look_after_barrier(with_iprobe, 0);
    look_after_barrier(with_improbe, 0);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; ++i) look_after_barrier(looks[i], 1);
  }
  sent_to_self();
  return finish();
}
