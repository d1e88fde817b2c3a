/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests: started any number of times, inactive in between, where completing them gives an
 * empty status at once (MPI-4, 3.9, 3.7.3). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  enum { kModes = 4, kInts = 30000 };
  int* out = malloc(kInts * sizeof(int));
  int* in = malloc(kModes * kInts * sizeof(int));
  MPI_Request requests[2 * kModes];
  MPI_Status statuses[2 * kModes];
  const int room = kInts * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* area = malloc((size_t)room);
  OK(MPI_Buffer_attach(area, room));

  for (int i = 0; i < kModes; ++i)
    OK(MPI_Recv_init(in + i * kInts, kInts, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]));
  OK(MPI_Send_init(out, kInts, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[kModes]));
  OK(MPI_Ssend_init(out, kInts, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[kModes + 1]));
  OK(MPI_Bsend_init(out, kInts, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[kModes + 2]));
  OK(MPI_Rsend_init(out, kInts, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[kModes + 3]));

  /* Not started yet: a wait returns at once, with an empty status, and the request stays. */
  int flag = 0;
  count_t count = -1;
  OK(MPI_Test(&requests[0], &flag, &statuses[0]));
  CHECK(flag);
  CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(statuses[0].MPI_TAG, MPI_ANY_TAG);
  CHECK(requests[0] != MPI_REQUEST_NULL);

  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kInts; ++i) out[i] = me * 1000003 + round * 1009 + i;
    OK(MPI_Startall(kModes, requests));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* ready mode: all receives are posted */
    if (round % 2)
      OK(MPI_Startall(kModes, requests + kModes));
    else
      for (int i = 0; i < kModes; ++i) OK(MPI_Start(&requests[kModes + i]));
    OK(MPI_Waitall(2 * kModes, requests, statuses));
    for (int i = 0; i < kModes; ++i) {
      CHECK_EQ(statuses[i].MPI_SOURCE, previous);
      CHECK_EQ(statuses[i].MPI_TAG, i);
      OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
      CHECK_EQ(count, kInts);
      for (int k = 0; k < kInts; ++k) CHECK_EQ(in[i * kInts + k] - k, previous * 1000003 + round * 1009);
      CHECK(requests[i] != MPI_REQUEST_NULL);
    }
  }
  int index = 0;
  OK(MPI_Waitany(2 * kModes, requests, &index, &statuses[0])); /* no active request at all */
  CHECK_EQ(index, MPI_UNDEFINED);
  for (int i = 0; i < 2 * kModes; ++i) {
    OK(MPI_Request_free(&requests[i]));
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  OK(MPI_Buffer_detach(&area, &count));
  free(area);
  free(in);
  free(out);
  return finish();
}
