/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each of two processes exchange messages of different lengths at the same time, each in a
 * communicator of its own (MPI 5.0, 3.11, 11.6.1). np: 2 */
#include "threads.h"

enum { ROUNDS = 20, LONGEST = 300000 };

static void* work(void* argument) {
  const Worker* const worker = argument;
  static const int lengths[] = {300000, 5000, 70000, 20000, 8, 262144};
  const int me = world_rank(), peer = 1 - me;
  unsigned char* const out = malloc(LONGEST);
  unsigned char* const in = malloc(LONGEST);
  for (int i = 0; i < ROUNDS; ++i) {
    const int there = lengths[(i + worker->id + me) % 6], here = lengths[(i + worker->id + peer) % 6];
    MPI_Status status;
    count_t count;
    fill(out, (size_t)there, me + worker->id + i);
    OK(MPI_Sendrecv(out, there, MPI_BYTE, peer, i, in, LONGEST, MPI_BYTE, peer, i, worker->comm, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, here);
    CHECK_EQ(first_difference(in, (size_t)here, peer + worker->id + i), -1);
  }
  free(in);
  free(out);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_with_duplicates(work);
  return finish();
}
