/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that receive from anybody with any tag, each from a communicator of its own, by MPI_Waitany over
 * several receives, while all threads send to all; each message arrives once, those of a pair in order
 * (MPI 5.0, 3.5, 11.6.2). */
#include "threads.h"

enum { EACH = 60, OPEN = 3 };

typedef struct {
  int source, tag, number;
} Word;

/* `receive`: 1 for the receive that was posted first. Notes it in `matched`, for each message of each source
 * and tag. */
static void take(const Word* word, const MPI_Status* status, int receive, int* matched) {
  CHECK_EQ(status->MPI_SOURCE, word->source);
  CHECK_EQ(status->MPI_TAG, word->tag);
  CHECK(word->number >= 0 && word->number < EACH);
  const int at = (word->source * THREADS + word->tag) * EACH + word->number;
  CHECK_EQ(matched[at], 0);
  matched[at] = receive;
}

/* Messages of one source and tag match receives in the order in which these were posted, though Waitany may
 * find them done in any. */
static void check_order(const int* matched, int senders) {
  for (int sender = 0; sender < senders; ++sender) {
    CHECK(matched[sender * EACH] > 0);
    for (int i = 1; i < EACH; ++i) CHECK(matched[sender * EACH + i] > matched[sender * EACH + i - 1]);
  }
}

/* Starts a message to every thread of every rank; nobody may depend on their being buffered. */
static MPI_Request* send_all(const Worker* workers, int size, const Word* word, MPI_Request* requests) {
  for (int to = 0; to < size; ++to) {
    for (int thread = 0; thread < THREADS; ++thread) {
      OK(MPI_Isend(word, 3, MPI_INT, to, word->tag, workers[thread].comm, requests++));
    }
  }
  return requests;
}

static void* work(void* argument) {
  const Worker* const self = argument;
  const Worker* const workers = self - self->id;
  int rank, size, index;
  OK(MPI_Comm_rank(self->comm, &rank));
  OK(MPI_Comm_size(self->comm, &size));
  const int all = size * THREADS * EACH;
  int* const matched = calloc((size_t)all, sizeof *matched);
  int receives[OPEN];
  MPI_Request* const sends = malloc((size_t)all * sizeof *sends);
  MPI_Request* next = sends;
  Word out[EACH];
  MPI_Request requests[OPEN];
  Word words[OPEN];
  for (int i = 0; i < OPEN; ++i) {
    receives[i] = i + 1;
    OK(MPI_Irecv(&words[i], 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, self->comm, &requests[i]));
  }
  int sent = 0, posted = OPEN;
  for (int got = 0; got < all; ++got) {
    if (sent < EACH && got * EACH >= sent * all) {
      out[sent] = (Word){rank, self->id, sent};
      next = send_all(workers, size, &out[sent++], next);
    }
    MPI_Status status;
    OK(MPI_Waitany(OPEN, requests, &index, &status));
    CHECK(index >= 0 && index < OPEN);
    take(&words[index], &status, receives[index], matched);
    if (posted++ >= all) continue;
    receives[index] = posted;
    OK(MPI_Irecv(&words[index], 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, self->comm, &requests[index]));
  }
  CHECK_EQ(next - sends, all);
  OK(MPI_Waitall(all, sends, MPI_STATUSES_IGNORE));
  check_order(matched, size * THREADS);
  free(sends);
  free(matched);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_with_duplicates(work);
  return finish();
}
