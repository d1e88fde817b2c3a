/* SPDX-License-Identifier: BSD-3-Clause */
/* np: 2+
 * Receive buffers of the library's in several threads: what one has received another one reads, writes and
 * gives back, in another order, while all receive. And a tool in front of MPIX_Release_recv_buf, which goes
 * on by its PMPIX_ name. Even ranks send to the next odd one and back. */
#include "threads/threads.h"
#include "managed.h"

#include <stdatomic.h>

enum { kRounds = 60, kPlaces = 16, kLengths = 4 };
static const int lengths[kLengths] = {500, 9000, 60000, 250000};
static int rank, other;

struct received {
  MPI_Status status;
  int bytes, seed, full;
};
static struct received places[kPlaces]; /* from whoever received to whoever gives back */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int released;

int MPIX_Release_recv_buf(MPI_Status status, void* recv_buf) {
  const int code = PMPIX_Release_recv_buf(status, recv_buf);
  if (code == MPI_SUCCESS) atomic_fetch_add(&released, 1);
  return code;
}

static void give_back(const struct received* one) { take(one->status, (size_t)one->bytes, one->seed); }

/* What was given back is nobody's any more, also where its place in the pool is in use again. */
static void expect_gone(const struct received* one) {
  void* data = NULL;
  CHECK_ERROR(PMPIX_Get_recv_buf(one->status, &data), MPI_ERR_ARG);
}

/* Leaves it in a place that some other thread has filled before, and gives that one's back. */
static struct received swap(struct received mine, int place) {
  pthread_mutex_lock(&lock);
  const struct received before = places[place];
  places[place] = mine;
  pthread_mutex_unlock(&lock);
  if (before.full) give_back(&before);
  return before;
}

static void* work(void* argument) {
  const Worker* const worker = argument;
  struct received gone = {.full = 0};
  unsigned char* const out = malloc((size_t)lengths[kLengths - 1]);
  for (int round = 0; round < kRounds; ++round) {
    const int bytes = lengths[(round + worker->id) % kLengths];
    struct received mine = {.bytes = bytes, .seed = round + worker->id + other, .full = 1};
    MPI_Request in;
    OK(MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_BYTE, other, worker->id, worker->comm, &in));
    fill(out, (size_t)bytes, round + worker->id + rank);
    OK(MPI_Send(out, bytes, MPI_BYTE, other, worker->id, worker->comm));
    OK(MPI_Wait(&in, &mine.status));
    if (gone.full) expect_gone(&gone);
    gone = swap(mine, (round * 7 + worker->id * 3) % kPlaces);
  }
  free(out);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  if (!MPIX_HAVE_RECV_BUF()) {
    MPI_Finalize();
    return CHECK_SKIP;
  }
  rank = world_rank();
  other = rank ^ 1;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  run_with_duplicates(work);
  for (int i = 0; i < kPlaces; ++i)
    if (places[i].full) give_back(&places[i]);
  CHECK_EQ(atomic_load(&released), THREADS * kRounds);
  return finish();
}
