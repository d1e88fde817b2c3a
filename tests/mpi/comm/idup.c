/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup waits for nobody: it ends in MPI_Wait or MPI_Test while other operations are under way, and
 * takes attributes as they were at the call (MPI 5.0, 7.4.2). */
#include "check.h"

enum { COPIES = 6 };

static void use(MPI_Comm comm, int me, int size, int salt) {
  int result, in = -1, out = me + salt;
  OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  OK(MPI_Sendrecv(&out, 1, MPI_INT, (me + 1) % size, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                  MPI_STATUS_IGNORE));
  CHECK_EQ(in, (me + size - 1) % size + salt);
}

/* Process 0 calls late: until then the others must be able to go on. */
static void not_blocking(int me, int size) {
  MPI_Comm copy;
  MPI_Request request;
  int token = 0;
  if (me != 0) OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
  if (me != 0) OK(MPI_Send(&me, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
  for (int i = 1; me == 0 && i < size; ++i)
    OK(MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (me == 0) OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
  for (int done = 0; !done;) OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  use(copy, me, size, 0);
  OK(MPI_Comm_free(&copy));
}

/* Several at once, with messages and collectives between them, ended in another order on each process. */
static void many(int me, int size) {
  MPI_Comm copies[COPIES];
  MPI_Request requests[COPIES + 2];
  int sum = -1, in = -1;
  OK(MPI_Irecv(&in, 1, MPI_INT, (me + 1) % size, 5, MPI_COMM_WORLD, &requests[COPIES]));
  for (int i = 0; i < COPIES / 2; ++i) OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
  OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[COPIES + 1]));
  for (int i = COPIES / 2; i < COPIES; ++i) OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Send(&me, 1, MPI_INT, (me + size - 1) % size, 5, MPI_COMM_WORLD));
  for (int i = 0; i < COPIES; ++i) OK(MPI_Wait(&requests[(i + me) % COPIES], MPI_STATUS_IGNORE));
  OK(MPI_Waitall(2, &requests[COPIES], MPI_STATUSES_IGNORE));
  CHECK_EQ(in, (me + 1) % size);
  CHECK_EQ(sum, size * (size - 1) / 2);
  for (int i = 0; i < COPIES; ++i) use(copies[i], me, size, i);
  for (int i = 0; i < COPIES; ++i) OK(MPI_Comm_free(&copies[i]));
}

/* The parent's attribute is changed, and the parent freed, before the end. */
static void attributes_of_then(int me, int size) {
  MPI_Comm parent, copy;
  MPI_Request request;
  int keyval, flag, values[2], *got = NULL;
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_attr(parent, keyval, &values[0]));
  OK(MPI_Comm_idup(parent, &copy, &request));
  OK(MPI_Comm_set_attr(parent, keyval, &values[1]));
  OK(MPI_Comm_free(&parent));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_get_attr(copy, keyval, &got, &flag));
  CHECK(flag);
  CHECK(got == &values[0]);
  CHECK_ERROR(MPI_Send(&me, 1, MPI_INT, size, 0, copy), MPI_ERR_RANK); /* the handler came along */
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free_keyval(&keyval));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  not_blocking(me, size);
  many(me, size);
  attributes_of_then(me, size);
  return finish();
}
