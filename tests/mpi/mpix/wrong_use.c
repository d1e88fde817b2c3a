/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong use of the library's receive buffers is an error that says why; cancelled, freed, truncated and
 * unwanted receives give their buffers back. Within one process, and between two where there are. */
#include "managed.h"

static unsigned char out[200000];
static int to, from;

static void send_one(int bytes, int tag) {
  MPI_Request sent;
  OK(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sent));
  OK(MPI_Request_free(&sent));
}

static MPI_Status receive_one(int bytes, int tag) {
  MPI_Status status;
  send_one(bytes, tag);
  OK(MPI_Recv(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
  return status;
}

/* The call's message names function and reason. */
static void says(int code, const char* function, const char* reason) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  if (strstr(text, function) == NULL || strstr(text, reason) == NULL) check_fail(__FILE__, __LINE__, text);
}

static void released(void) {
  void *first, *second, *other;
  MPI_Status one = receive_one(5000, 1), two = receive_one(5000, 1), copy = one;
  OK(MPIX_Get_recv_buf(one, &first));
  OK(MPIX_Get_recv_buf(two, &second));
  CHECK(first != second);
  CHECK_ERROR(MPIX_Release_recv_buf(one, second), MPI_ERR_BUFFER); /* another status's */
  CHECK_ERROR(MPIX_Release_recv_buf(one, out), MPI_ERR_BUFFER);    /* the program's own */
  CHECK_ERROR(MPIX_Release_recv_buf(one, (char*)first + 1), MPI_ERR_BUFFER);
  CHECK_ERROR(MPIX_Release_recv_buf(one, NULL), MPI_ERR_BUFFER);
  CHECK_ERROR(MPIX_Get_recv_buf(one, NULL), MPI_ERR_ARG);
  OK(MPIX_Release_recv_buf(copy, first));
  says(MPIX_Release_recv_buf(one, first), "MPIX_Release_recv_buf", "released");
  CHECK_ERROR(MPIX_Release_recv_buf(copy, first), MPI_ERR_ARG);
  CHECK_ERROR(MPIX_Get_recv_buf(one, &other), MPI_ERR_ARG);
  OK(MPIX_Release_recv_buf(two, second));
  two = receive_one(5000, 1); /* has the memory of the first again, and another generation */
  OK(MPIX_Get_recv_buf(two, &other));
  CHECK_ERROR(MPIX_Get_recv_buf(one, &first), MPI_ERR_ARG);
  OK(MPIX_Release_recv_buf(two, other));
}

static void not_managed(void) {
  void* data;
  MPI_Status status = receive_one(100, 2);
  OK(MPIX_Get_recv_buf(status, &data));
  const MPI_Status kept = status;
  static unsigned char own[100];
  send_one(100, 2);
  OK(MPI_Recv(own, 100, MPI_BYTE, from, 2, MPI_COMM_WORLD, &status)); /* into the same status */
  says(MPIX_Get_recv_buf(status, &data), "MPIX_Get_recv_buf", "MPIX_BUFFER_LIBRARY");
  CHECK_ERROR(MPIX_Release_recv_buf(status, data), MPI_ERR_ARG);
  OK(MPIX_Release_recv_buf(kept, data));
  memset(&status, 0, sizeof status);
  CHECK_ERROR(MPIX_Get_recv_buf(status, &data), MPI_ERR_ARG);
  memset(&status, 0x55, sizeof status);
  CHECK_ERROR(MPIX_Get_recv_buf(status, &data), MPI_ERR_ARG);
  CHECK_ERROR(MPIX_Request_get_recv_buf(MPI_REQUEST_NULL, &data), MPI_ERR_REQUEST);
}

static void cancelled_and_freed(void) {
  void* data;
  int flag;
  MPI_Status status;
  MPI_Request in;
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 100, MPI_BYTE, from, 13, MPI_COMM_WORLD, &in));
  CHECK_ERROR(MPIX_Request_get_recv_buf(in, &data), MPI_ERR_REQUEST); /* active */
  OK(MPI_Cancel(&in));
  OK(MPI_Wait(&in, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  says(MPIX_Get_recv_buf(status, &data), "MPIX_Get_recv_buf", "cancelled");
  CHECK_ERROR(MPIX_Release_recv_buf(status, NULL), MPI_ERR_ARG);
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 100, MPI_BYTE, from, 3, MPI_COMM_WORLD, &in));
  OK(MPI_Request_free(&in));
  send_one(100, 3); /* goes to the freed one */
  status = receive_one(100, 4);
  OK(MPIX_Get_recv_buf(status, &data));
  OK(MPIX_Release_recv_buf(status, data));
}

static void ignored(void) {
  void *data, *seen;
  MPI_Status early;
  MPI_Request in;
  int flag = 0;
  send_one(70000, 5);
  OK(MPI_Recv(MPIX_BUFFER_LIBRARY, 70000, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  /* A look that ends nothing shows the buffer, too; without a status it then goes back with the request. */
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, from, 5, MPI_COMM_WORLD, &in));
  send_one(70000, 5);
  while (!flag) OK(MPI_Request_get_status(in, &flag, &early));
  OK(MPIX_Get_recv_buf(early, &data));
  OK(MPIX_Request_get_recv_buf(in, &seen));
  CHECK(data == seen);
  CHECK_EQ(first_difference(data, 70000, 7), -1);
  OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
  says(MPIX_Get_recv_buf(early, &data), "MPIX_Get_recv_buf", "went back");
}

static void truncated(int bytes) {
  void* data;
  int count;
  MPI_Status status;
  MPI_Datatype nothing;
  send_one(bytes, 6);
  CHECK_ERROR(MPI_Recv(MPIX_BUFFER_LIBRARY, bytes / 2, MPI_BYTE, from, 6, MPI_COMM_WORLD, &status),
              MPI_ERR_TRUNCATE);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes / 2);
  OK(MPIX_Get_recv_buf(status, &data)); /* what fitted */
  CHECK_EQ(first_difference(data, (size_t)bytes / 2, 7), -1);
  OK(MPIX_Release_recv_buf(status, data));
  send_one(bytes, 6);
  CHECK_ERROR(MPI_Recv(MPIX_BUFFER_LIBRARY, 0, MPI_BYTE, from, 6, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
  OK(MPIX_Get_recv_buf(status, &data));
  CHECK(data == NULL);
  OK(MPI_Type_contiguous(0, MPI_INT, &nothing)); /* of which no number holds the message */
  OK(MPI_Type_commit(&nothing));
  send_one(bytes, 6);
  CHECK_ERROR(MPI_Recv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, nothing, from, 6, MPI_COMM_WORLD, &status),
              MPI_ERR_TRUNCATE);
  OK(MPIX_Get_recv_buf(status, &data));
  CHECK(data == NULL);
  OK(MPI_Type_free(&nothing));
}

static void arguments(void) {
  MPI_Request request;
  MPI_Datatype absolute;
  MPI_Aint at;
  int block = 1, value;
  CHECK_ERROR(MPI_Send(MPIX_BUFFER_LIBRARY, 1, MPI_INT, to, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  says(MPI_Bcast(MPIX_BUFFER_LIBRARY, 1, MPI_INT, 0, MPI_COMM_SELF), "MPI_Bcast", "MPIX_BUFFER_LIBRARY");
  CHECK_ERROR(
      MPI_Precv_init(MPIX_BUFFER_LIBRARY, 1, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      MPI_ERR_BUFFER);
  CHECK_ERROR(MPI_Sendrecv_replace(MPIX_BUFFER_LIBRARY, 1, MPI_INT, to, 0, from, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE),
              MPI_ERR_BUFFER);
  CHECK_ERROR(MPI_Recv(&value, MPIX_COUNT_ANY, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Recv(MPIX_BUFFER_LIBRARY, -1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_COUNT);
  CHECK_ERROR(MPI_Send(&value, MPIX_COUNT_ANY, MPI_INT, to, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  /* NULL asks the library in MPI_Irecv only. */
  CHECK_ERROR(MPI_Recv(NULL, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
  MPI_Get_address(&value, &at);
  MPI_Type_create_hindexed(1, &block, &at, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  CHECK_ERROR(MPI_Irecv(MPIX_BUFFER_LIBRARY, 1, absolute, from, 0, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
  value = 0; /* MPI_BOTTOM is NULL, and stays what it was */
  int one = 4711;
  MPI_Request sent;
  OK(MPI_Isend(&one, 1, MPI_INT, to, 8, MPI_COMM_WORLD, &sent));
  OK(MPI_Irecv(MPI_BOTTOM, 1, absolute, from, 8, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  CHECK_EQ(value, 4711);
  MPI_Type_free(&absolute);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  NEED_MANAGED();
  const int rank = world_rank(), size = world_size();
  to = (rank + 1) % size;
  from = (rank + size - 1) % size;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  fill(out, sizeof out, 7);
  released();
  not_managed();
  cancelled_and_freed();
  ignored();
  truncated(1000);
  truncated(200000);
  arguments();
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) (void)receive_one(123, 9); /* "keep": for the report at the end */
  return finish();
}
