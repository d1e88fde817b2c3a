/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths on both sides of where libraries change the way of a message: unexpected and received in reverse,
 * claimed in one order and received in the other, truncated in a set, with a type freed meanwhile
 * (MPI 5.0, 3.5, 3.7.5, 3.8.2, 5.1.9). */
#include "check.h"

enum { KINDS = 20, MESSAGES = 60 };

static int rank, next, previous;

/* Message k has 2^(k mod 20) bytes. */
static void reversed(void) {
  MPI_Request requests[MESSAGES];
  char* sent[MESSAGES];
  char* const got = malloc(1 << KINDS);
  for (int k = 0; k < MESSAGES; ++k) {
    const int bytes = 1 << (k % KINDS);
    sent[k] = malloc((size_t)bytes);
    memset(sent[k], k + rank, (size_t)bytes);
    OK(MPI_Isend(sent[k], bytes, MPI_CHAR, next, k, MPI_COMM_WORLD, &requests[k]));
  }
  for (int k = MESSAGES - 1; k >= 0; --k) {
    const int bytes = 1 << (k % KINDS);
    MPI_Status status;
    int count;
    OK(MPI_Recv(got, 1 << KINDS, MPI_CHAR, previous, k, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK_EQ(count, bytes);
    CHECK_EQ(got[0], (char)(k + previous));
    CHECK_EQ(got[bytes - 1], (char)(k + previous));
  }
  OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
  for (int k = 0; k < MESSAGES; ++k) free(sent[k]);
  free(got);
}

/* The long message is claimed first and received last. */
static void claimed(int bytes) {
  char* const sent = calloc(1, (size_t)bytes);
  char* const got = malloc((size_t)bytes);
  int number = -1, count;
  MPI_Request requests[3];
  MPI_Message message;
  MPI_Status status;
  OK(MPI_Isend(sent, bytes, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Mprobe(previous, 1, MPI_COMM_WORLD, &message, &status));
  OK(MPI_Get_count(&status, MPI_CHAR, &count));
  CHECK_EQ(count, bytes);
  OK(MPI_Recv(&number, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(number, previous);
  OK(MPI_Imrecv(got, bytes, MPI_CHAR, &message, &requests[2]));
  CHECK(message == MPI_MESSAGE_NULL);
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  CHECK(memcmp(sent, got, (size_t)bytes) == 0);
  free(sent);
  free(got);
}

/* Of two receives in a set one is too short: it alone fails, and nothing beyond its buffer is written. */
static void truncated(int count) {
  int* const sent = calloc((size_t)count, sizeof(int));
  int got[2] = {0, 77}, number = -1;
  MPI_Request requests[4];
  MPI_Status statuses[4];
  OK(MPI_Irecv(got, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Irecv(&number, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Isend(sent, count, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Isend(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[3]));
  CHECK_ERROR(MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(check_class(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
  for (int i = 1; i < 4; ++i) {
    if (check_class(statuses[i].MPI_ERROR) == MPI_ERR_PENDING) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  }
  CHECK_EQ(number, previous);
  CHECK_EQ(got[1], 77);
  free(sent);
}

/* Every other element of `count`, with a type that is freed before the messages end. */
static void freed_type(int count) {
  MPI_Datatype type;
  MPI_Request requests[2];
  int* const sent = malloc(sizeof(int) * 2 * (size_t)count);
  int* const got = malloc(sizeof(int) * 2 * (size_t)count);
  for (int i = 0; i < 2 * count; ++i) sent[i] = rank + i, got[i] = -1;
  OK(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Irecv(got, 1, type, previous, 4, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(sent, 1, type, next, 4, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Type_free(&type));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2 * count; ++i) CHECK_EQ(got[i], i % 2 ? -1 : previous + i);
  free(sent);
  free(got);
}

int main(int argc, char** argv) {
  static const int counts[] = {2, 1000, 1023, 1024, 1025, 16384, 100000};
  MPI_Init(&argc, &argv);
  const int size = world_size();
  rank = world_rank();
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  reversed();
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    claimed(4 * counts[i]);
    freed_type(counts[i]);
    if (size > 1) truncated(counts[i]); /* Open MPI overruns the buffer of a message to itself */
  }
  return finish();
}
