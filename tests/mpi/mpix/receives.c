/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 1+
 * Every receive that can have its buffer from the library, of every length, before and after its message
 * (docs/design/managed-buffers.md). In a ring: each rank sends to the next and receives from the one before.
 * */
#include "managed.h"

static const int lengths[] = {0, 1, 8, 24, 1000, 4096, 20000, 70000, 300000, 1500000};
#define LENGTHS ((int)(sizeof lengths / sizeof *lengths))
static unsigned char out[1500000];
static int rank, size, left, right;

static MPI_Request send_to_right(int bytes, int tag, int seed) {
  MPI_Request request;
  fill(out, (size_t)bytes, seed);
  OK(MPI_Isend(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, &request));
  return request;
}

/* Whether the receive or the message comes first. */
static void one_length(int bytes, int early) {
  MPI_Status status;
  MPI_Request in, sent;
  int flag = 0;
  if (early) OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, left, 1, MPI_COMM_WORLD, &in));
  MPI_Barrier(MPI_COMM_WORLD);
  sent = send_to_right(bytes, 1, left + bytes);
  if (!early) {
    while (!flag) OK(MPI_Iprobe(left, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &in));
  }
  OK(MPI_Wait(&in, &status));
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_EQ(status.MPI_TAG, 1);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, (size_t)bytes, (left + size - 1) % size + bytes);
}

static void blocking(int bytes) {
  MPI_Status status;
  MPI_Request sent = send_to_right(bytes, 2, left + 1);
  const int seed = (left + size - 1) % size + 1;
  OK(MPI_Recv(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, (size_t)bytes, seed);
  sent = send_to_right(bytes, 2, left + 1);
  OK(MPI_Recv_c(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, left, 2, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, (size_t)bytes, seed);
  fill(out, (size_t)bytes, left + 1);
  OK(MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, left, 3,
                  MPI_COMM_WORLD, &status));
  take(status, (size_t)bytes, seed);
  MPI_Request both;
  OK(MPI_Isendrecv(out, bytes, MPI_BYTE, right, 3, MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, left, 3,
                   MPI_COMM_WORLD, &both));
  OK(MPI_Wait(&both, &status));
  take(status, (size_t)bytes, seed);
}

static void matched(int bytes) {
  MPI_Status status, probed;
  MPI_Message message;
  MPI_Request in, sent = send_to_right(bytes, 4, left + 2);
  const int seed = (left + size - 1) % size + 2;
  OK(MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, &probed));
  OK(MPI_Mrecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL);
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, (size_t)bytes, seed);
  sent = send_to_right(bytes, 4, left + 2);
  OK(MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &probed));
  OK(MPI_Imrecv(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, &message, &in));
  OK(MPI_Wait(&in, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, (size_t)bytes, seed);
}

/* Each start has another buffer; what nobody was told of goes back by itself. */
static void persistent(int bytes) {
  MPI_Request in;
  MPI_Status status[3];
  void* data[6] = {0};
  const int seed = (left + size - 1) % size;
  OK(MPI_Recv_init(MPIX_BUFFER_LIBRARY, bytes, MPI_BYTE, left, 5, MPI_COMM_WORLD, &in));
  CHECK_ERROR(MPIX_Request_get_recv_buf(in, &data[0]), MPI_ERR_REQUEST); /* not started yet */
  for (int turn = 0; turn < 3; ++turn) {
    OK(MPI_Start(&in));
    MPI_Request sent = send_to_right(bytes, 5, left + turn);
    OK(MPI_Wait(&in, &status[turn]));
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    OK(MPIX_Request_get_recv_buf(in, &data[turn]));
  }
  for (int turn = 2; turn >= 0; --turn) {
    void* buffer;
    OK(MPIX_Get_recv_buf(status[turn], &buffer));
    CHECK(buffer == data[turn]);
    CHECK(bytes == 0 || buffer != data[(turn + 1) % 3]);
    take(status[turn], (size_t)bytes, seed + turn);
  }
  if (bytes != 0) CHECK_ERROR(MPIX_Request_get_recv_buf(in, &data[0]), MPI_ERR_REQUEST); /* released */
  for (int turn = 0; turn < 6; ++turn) { /* the buffer of the start before is still good */
    OK(MPI_Start(&in));
    MPI_Request sent = send_to_right(bytes, 5, left + turn);
    OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    OK(MPIX_Request_get_recv_buf(in, &data[turn]));
    CHECK_EQ(first_difference(data[turn], (size_t)bytes, seed + turn), -1);
    if (turn > 0) CHECK_EQ(first_difference(data[turn - 1], (size_t)bytes, seed + turn - 1), -1);
    if (turn > 0 && bytes != 0) CHECK(data[turn] != data[turn - 1]);
  }
  OK(MPI_Request_free(&in));
}

static void types(void) {
  MPI_Datatype padded, pair[2] = {MPI_INT, MPI_CHAR}, strided;
  MPI_Aint at[2] = {0, 4};
  int blocks[2] = {1, 1}, count = 0;
  struct element {
    int number;
    char letter;
  } * data, elements[50];
  MPI_Status status;
  MPI_Type_create_struct(2, blocks, at, pair, &strided);
  MPI_Type_create_resized(strided, 0, sizeof(struct element), &padded);
  MPI_Type_commit(&padded);
  for (int i = 0; i < 50; ++i) elements[i] = (struct element){rank * 100 + i, (char)('a' + i % 20)};
  MPI_Request sent;
  OK(MPI_Isend(elements, 50, padded, right, 6, MPI_COMM_WORLD, &sent));
  OK(MPI_Recv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, padded, left, 6, MPI_COMM_WORLD, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  OK(MPI_Get_count(&status, padded, &count));
  CHECK_EQ(count, 50);
  OK(MPIX_Get_recv_buf(status, (void**)&data));
  for (int i = 0; i < 50; ++i) {
    CHECK_EQ(data[i].number, left * 100 + i);
    CHECK_EQ(data[i].letter, 'a' + i % 20);
  }
  OK(MPIX_Release_recv_buf(status, data));
  MPI_Type_free(&padded);
  MPI_Type_free(&strided);
}

/* The slides' own form. */
static void null_buffer(void) {
  MPI_Status status;
  MPI_Request in, sent;
  OK(MPI_Irecv(NULL, 5000, MPI_BYTE, left, 7, MPI_COMM_WORLD, &in));
  sent = send_to_right(5000, 7, left);
  OK(MPI_Wait(&in, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  take(status, 5000, (left + size - 1) % size);
}

static void from_nobody(void) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request in;
  OK(MPI_Recv(MPIX_BUFFER_LIBRARY, 10, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  take(status, 0, 0);
  OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 10, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &in));
  OK(MPI_Wait(&in, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  take(status, 0, 0);
  OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
  OK(MPI_Mrecv(MPIX_BUFFER_LIBRARY, 10, MPI_INT, &message, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  take(status, 0, 0);
}

/* Many are kept and released in another order; none changes before. */
static void many(void) {
  enum { kMany = 60 };
  MPI_Request in[kMany], sent[kMany];
  MPI_Status status[kMany];
  static unsigned char data[kMany][9000];
  for (int i = 0; i < kMany; ++i)
    OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, 9000, MPI_BYTE, i % 2 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                 &in[i]));
  for (int i = 0; i < kMany; ++i) {
    fill(data[i], (size_t)(i * 150), i + rank);
    OK(MPI_Isend(data[i], i * 150, MPI_BYTE, right, i, MPI_COMM_WORLD, &sent[i]));
  }
  OK(MPI_Waitall(kMany, in, status));
  OK(MPI_Waitall(kMany, sent, MPI_STATUSES_IGNORE));
  for (int step = 0; step < kMany; ++step) {
    const int i = step * 37 % kMany;
    take(status[i], (size_t)(i * 150), i + left);
  }
}

static void between_groups(void) {
  MPI_Comm half, inter;
  MPI_Status status;
  if (size < 2) return;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter));
  int peers, me;
  MPI_Comm_remote_size(inter, &peers);
  MPI_Comm_rank(inter, &me);
  if (me < peers) {
    unsigned char text[40000];
    fill(text, sizeof text, rank % 2);
    OK(MPI_Sendrecv(text, sizeof text, MPI_BYTE, me, 0, MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, me, 0,
                    inter, &status));
    take(status, sizeof text, 1 - rank % 2);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  NEED_MANAGED();
  rank = world_rank();
  size = world_size();
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (int i = 0; i < LENGTHS; ++i) {
    one_length(lengths[i], 0);
    one_length(lengths[i], 1);
    blocking(lengths[i]);
    matched(lengths[i]);
    persistent(lengths[i]);
  }
  types();
  null_buffer();
  from_nobody();
  many();
  between_groups();
  return finish();
}
