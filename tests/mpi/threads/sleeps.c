/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that sleeps in a wait is woken when another one of its process completes what it waits for: by a
 * message to itself, by MPI_Grequest_complete, or by progress for all. See tool/sleeps.c. */
#include <stdatomic.h>

#include "../tool/sleeps.h"
#include "threads.h"

enum { ROUNDS = 300 };

static int me, size, turn;

/* Mostly shorter than the yields before a sleep, where they are not switched off. */
static double longest_us(int round) { return round % 20 == 7 ? 5000 : 300; }

static int no_query(void* state, MPI_Status* status) {
  (void)state;
  OK(MPI_Status_set_elements(status, MPI_BYTE, 0));
  OK(MPI_Status_set_cancelled(status, 0));
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int no_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int no_cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static MPI_Request promises[ROUNDS];
static atomic_int kept; /* how many promises have been waited for */
static MPI_Comm own, world;

/* To each other within the process, and it is the other one that progresses. */
static void to_and_fro(int id, unsigned* seed) {
  int word;
  for (int i = 0; i < ROUNDS; ++i) {
    if (i % 20 == 0) nothing_missed("to and fro");
    if (id == 0) {
      pass_a_while(seed, longest_us(i));
      OK(MPI_Send(&i, 1, MPI_INT, 0, 1, own));
      OK(MPI_Recv(&word, 1, MPI_INT, 0, 2, own, MPI_STATUS_IGNORE));
    } else {
      OK(MPI_Recv(&word, 1, MPI_INT, 0, 1, own, MPI_STATUS_IGNORE));
      pass_a_while(seed, longest_us(i));
      OK(MPI_Send(&i, 1, MPI_INT, 0, 2, own));
    }
    CHECK_EQ(word, i);
  }
}

/* One waits for what the other one says is done. Until that has arrived, the other one stays outside of MPI:
 * its progress would wake the first one, too. */
static void promised(int id, unsigned* seed) {
  const struct timespec moment = {0, 20000};
  int word;
  for (int i = 0; i < ROUNDS; ++i) {
    if (i % 20 == 0) nothing_missed("promised");
    if (id == 0) {
      OK(MPI_Wait(&promises[i], MPI_STATUS_IGNORE));
      atomic_store(&kept, i + 1);
      OK(MPI_Send(&i, 1, MPI_INT, (me + 1) % size, 3, world));
    } else {
      const MPI_Request copy = promises[i];
      pass_a_while(seed, longest_us(i));
      OK(MPI_Grequest_complete(copy));
      while (atomic_load(&kept) <= i) nanosleep(&moment, NULL);
      OK(MPI_Recv(&word, 1, MPI_INT, (me + size - 1) % size, 3, world, MPI_STATUS_IGNORE));
      CHECK_EQ(word, i);
    }
  }
}

static void* work(void* argument) {
  const Worker* const self = argument;
  unsigned seed = (unsigned)(self->id + 10 * me);
  /* One after the other: traffic of others would wake those who nobody has rung for. */
  if (self->id < 2 && turn == 0) to_and_fro(self->id, &seed);
  if (self->id < 2 && turn == 1) promised(self->id, &seed);
  return NULL;
}

int main(int argc, char** argv) {
  if (!sleeps_are_counted()) return CHECK_SKIP;
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  me = world_rank();
  size = world_size();
  OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
  for (int i = 0; i < ROUNDS; ++i) OK(MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &promises[i]));
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; ++i) workers[i].id = i;
  for (turn = 0; turn < 2; ++turn) run_workers(work, workers);
  CHECK(sleeps("wait_sleeps") > 0);
  nothing_missed("the end");
  OK(MPI_Comm_free(&own));
  OK(MPI_Comm_free(&world));
  OK(MPI_Finalize());
  OK(MPI_T_finalize());
  return 0;
}
