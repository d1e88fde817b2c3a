/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of two processes or more exchange long messages in memory of MPI_Alloc_mem and in ordinary memory
 * at the same time, some of them found by matched probes, while other threads probe for messages of the
 * same communicator (MPI 5.0, 3.8.2, 9.2, 11.6.1). np: 2+ */
#include "threads.h"

enum { kRounds = 15, kBytes = 200000, kTags = 100 };

static MPI_Comm shared;

static unsigned char* memory(int of_library) {
  unsigned char* made = NULL;
  if (of_library)
    OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &made));
  else
    CHECK((made = malloc(kBytes)) != NULL);
  return made;
}
static void give_back(unsigned char* buffer, int of_library) {
  if (of_library)
    OK(MPI_Free_mem(buffer));
  else
    free(buffer);
}

static void* work(void* argument) {
  const Worker* const worker = argument;
  const int me = world_rank(), size = world_size(), next = (me + 1) % size, before = (me + size - 1) % size;
  const int tag = worker->id; /* one communicator, a tag for each thread */
  unsigned char* const out = memory(worker->id != 1);
  unsigned char* const in = memory(worker->id != 2);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request sent;
    MPI_Status status;
    count_t count;
    int flag;
    fill(out, kBytes, me * 5 + worker->id + i);
    OK(MPI_Isend(out, kBytes, MPI_BYTE, next, tag, shared, &sent));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, kTags, shared, &flag, MPI_STATUS_IGNORE)); /* nobody sends that */
    CHECK(!flag);
    if ((i + worker->id) % 2 == 0) {
      MPI_Message message;
      OK(MPI_Mprobe(before, tag, shared, &message, &status));
      OK(MPI_Mrecv(in, kBytes, MPI_BYTE, &message, &status));
    } else {
      OK(MPI_Probe(MPI_ANY_SOURCE, tag, shared, &status)); /* no other thread receives this tag */
      OK(MPI_Recv(in, kBytes, MPI_BYTE, status.MPI_SOURCE, tag, shared, &status));
    }
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, kBytes);
    CHECK_EQ(first_difference(in, kBytes, before * 5 + worker->id + i), -1);
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  }
  give_back(in, worker->id != 2);
  give_back(out, worker->id != 1);
  return NULL;
}

int main(int argc, char** argv) {
  Worker workers[THREADS];
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < THREADS; ++i) workers[i] = (Worker){i, MPI_COMM_NULL};
    run_workers(work, workers);
  }
  OK(MPI_Comm_free(&shared));
  return finish();
}
