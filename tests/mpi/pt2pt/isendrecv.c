/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Isendrecv and MPI_Isendrecv_replace: rings that nobody has to wait in, MPI_PROC_NULL on either side,
 * large and non-contiguous data, errors (MPI 5.0, 3.11). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { LARGE = 300000 };

static void rings(int me, int size) {
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  unsigned char* const out = malloc(LARGE);
  unsigned char* const in = malloc(LARGE);
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int small = me, got = -1, moving = me * 3;
  count_t count;
  fill(out, LARGE, me);
  OK(MPI_Isendrecv(out, LARGE, MPI_BYTE, next, 1, in, LARGE, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
                   &requests[0]));
  OK(MPI_Isendrecv(&small, 1, MPI_INT, previous, 2, &got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                   &requests[1]));
  OK(MPI_Isendrecv_replace_c(&moving, 1, MPI_INT, next, 3, previous, 3, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Waitall(3, requests, statuses));
  CHECK_EQ(first_difference(in, LARGE, previous), -1);
  OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
  CHECK_EQ(count, LARGE);
  CHECK_EQ(statuses[0].MPI_SOURCE, previous);
  CHECK_EQ(statuses[1].MPI_SOURCE, next);
  CHECK_EQ(statuses[1].MPI_TAG, 2);
  CHECK_EQ(got, next);
  CHECK_EQ(moving, previous * 3);
  for (int i = 0; i < 3; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  free(out);
  free(in);
}

/* Every second int travels; the others stay. */
static void with_holes(int me, int size) {
  MPI_Datatype type;
  MPI_Request request;
  int data[20];
  OK(MPI_Type_vector(10, 1, 2, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  for (int i = 0; i < 20; ++i) data[i] = me * 100 + i;
  OK(MPI_Isendrecv_replace(data, 1, type, (me + 1) % size, 0, (me + size - 1) % size, 0, MPI_COMM_WORLD,
                           &request));
  OK(MPI_Type_free(&type));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 20; ++i) CHECK_EQ(data[i], (i % 2 == 0 ? (me + size - 1) % size : me) * 100 + i);
}

static void nobody(int me, int size) {
  MPI_Request request;
  MPI_Status status;
  int out = me, in = -5;
  count_t count;
  OK(MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   &request));
  OK(MPI_Wait(&request, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 0);
  CHECK_EQ(in, -5);
  /* A line: the ends have nobody on one side. */
  OK(MPI_Isendrecv_c(&out, 1, MPI_INT, me + 1 < size ? me + 1 : MPI_PROC_NULL, 4, &in, 1, MPI_INT,
                     me > 0 ? me - 1 : MPI_PROC_NULL, 4, MPI_COMM_WORLD, &request));
  for (int done = 0; !done;) OK(MPI_Test(&request, &done, &status));
  CHECK_EQ(in, me > 0 ? me - 1 : -5);
  CHECK_EQ(status.MPI_SOURCE, me > 0 ? me - 1 : MPI_PROC_NULL);
}

static void too_long(int me, int size) {
  MPI_Request request;
  int out[4] = {1, 2, 3, 4}, in[4] = {0};
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Isendrecv(out, 4, MPI_INT, (me + 1) % size, 0, in, 2, MPI_INT, (me + size - 1) % size, 0,
                   MPI_COMM_WORLD, &request));
  CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  rings(me, size);
  with_holes(me, size);
  nobody(me, size);
  too_long(me, size);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
