/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned operations match in the order of their initialisation, whatever order they are started in, and
 * never with other messages; MPI_PROC_NULL; large partitions; requests that are never started
 * (MPI 5.0, 4.2). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { PAIRS = 4, LARGE = 200000 };

static int me, size, next, previous;

static void in_order_of_initialisation(void) {
  MPI_Request sends[PAIRS], receives[PAIRS];
  int out[PAIRS][2], in[PAIRS][2], plain = -1;
  for (int i = 0; i < PAIRS; ++i) {
    out[i][0] = me * 10 + i;
    out[i][1] = -out[i][0];
    OK(MPI_Psend_init(out[i], 2, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    OK(MPI_Precv_init(in[i], 1, 2, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
  }
  OK(MPI_Sendrecv(&me, 1, MPI_INT, next, 3, &plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK_EQ(plain, previous);
  for (int i = PAIRS - 1; i >= 0; --i) {
    OK(MPI_Start(&sends[i]));
    OK(MPI_Pready_range(0, 1, sends[i]));
  }
  for (int i = 0; i < PAIRS; ++i) OK(MPI_Start(&receives[(i + 2) % PAIRS]));
  OK(MPI_Waitall(PAIRS, receives, MPI_STATUSES_IGNORE));
  OK(MPI_Waitall(PAIRS, sends, MPI_STATUSES_IGNORE));
  for (int i = 0; i < PAIRS; ++i) {
    CHECK_EQ(in[i][0], previous * 10 + i);
    CHECK_EQ(in[i][1], -(previous * 10 + i));
    OK(MPI_Request_free(&sends[i]));
    OK(MPI_Request_free(&receives[i]));
  }
}

static void nobody(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int data[3] = {1, 2, 3}, flag = 0;
  OK(MPI_Psend_init(data, 3, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Precv_init(data, 3, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Parrived(requests[1], 0, &flag)); /* inactive */
  CHECK(flag);
  OK(MPI_Startall(2, requests));
  OK(MPI_Parrived(requests[1], 2, &flag));
  CHECK(flag);
  flag = 0;
  OK(MPI_Parrived(MPI_REQUEST_NULL, 7, &flag));
  CHECK(flag);
  OK(MPI_Pready_range(0, 2, requests[0]));
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  OK(MPI_Wait(&requests[1], &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
}

/* Nothing has arrived while the sender holds back a partition. */
static void held_back(void) {
  MPI_Request requests[2];
  unsigned char* const out = malloc(2 * LARGE);
  unsigned char* const in = malloc(2 * LARGE);
  int flag;
  fill(out, 2 * LARGE, me);
  OK(MPI_Psend_init(out, 2, LARGE, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Precv_init(in, 2, LARGE, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Startall(2, requests));
  OK(MPI_Pready(1, requests[0]));
  for (flag = 0; !flag;) OK(MPI_Parrived(requests[1], 1, &flag));
  OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody has given partition 0 before this */
  OK(MPI_Pready(0, requests[0]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(first_difference(in, 2 * LARGE, previous), -1);
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
  free(out);
  free(in);
}

static void never_started(void) {
  MPI_Comm comm;
  MPI_Request requests[2];
  int data[2];
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Psend_init(data, 2, 1, MPI_INT, next, 0, comm, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Precv_init(data, 2, 1, MPI_INT, previous, 0, comm, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
  OK(MPI_Barrier(comm));
  OK(MPI_Comm_free(&comm));
}

/* Of two pairs with one tag the first is freed without a start, its receive before the sender comes: the
 * second still match each other. */
static void freed_before_the_other_came(void) {
  MPI_Request first, second[2];
  int out[4] = {me, me + 1, me + 2, me + 3}, in[4] = {-1, -1, -1, -1};
  OK(MPI_Precv_init(in, 1, 2, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &first));
  OK(MPI_Request_free(&first));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Psend_init(out, 2, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &first));
  OK(MPI_Request_free(&first));
  OK(MPI_Psend_init(out, 2, 2, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &second[0]));
  OK(MPI_Precv_init(in, 4, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &second[1]));
  OK(MPI_Startall(2, second));
  OK(MPI_Pready_range(0, 1, second[0]));
  OK(MPI_Waitall(2, second, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; ++i) CHECK_EQ(in[i], previous + i);
  OK(MPI_Request_free(&second[0]));
  OK(MPI_Request_free(&second[1]));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = world_rank();
  size = world_size();
  next = (me + 1) % size;
  previous = (me + size - 1) % size;
  in_order_of_initialisation();
  nobody();
  held_back();
  never_started();
  freed_before_the_other_came();
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
