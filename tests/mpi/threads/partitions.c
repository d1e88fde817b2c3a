/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads hand over the partitions of one message, others look whether theirs has arrived
 * (MPI 5.0, 4.2, 11.6.2). needs: mpi-4 */
#include "threads.h"

#if MPI_VERSION >= 4
enum { EACH = 500, ROUNDS = 10 };

static MPI_Request requests[2];
static int out[THREADS * EACH], in[THREADS * EACH];
static int me, previous, round_number;

static void* work(void* argument) {
  const int part = ((const Worker*)argument)->id;
  int flag = 0;
  for (int i = 0; i < EACH; ++i) out[part * EACH + i] = me * 1000 + part * 100 + i + round_number;
  OK(MPI_Pready(part, requests[0]));
  while (!flag) OK(MPI_Parrived(requests[1], part, &flag));
  for (int i = 0; i < EACH; ++i)
    CHECK_EQ(in[part * EACH + i], previous * 1000 + part * 100 + i + round_number);
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  const int size = world_size();
  Worker workers[THREADS];
  me = world_rank();
  previous = (me + size - 1) % size;
  for (int i = 0; i < THREADS; ++i) workers[i].id = i;
  OK(MPI_Psend_init(out, THREADS, EACH, MPI_INT, (me + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[0]));
  OK(MPI_Precv_init(in, THREADS, EACH, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (round_number = 0; round_number < ROUNDS; ++round_number) {
    OK(MPI_Startall(2, requests));
    run_workers(work, workers);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
