/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages around a ring: every way of dividing the data on each side, partitions handed over in
 * any order, several rounds, contiguous and not (MPI 5.0, 4.2). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { TOTAL = 720, ROUNDS = 3 };

static int me, size, next, previous;

static int value(int rank, int round, int index) { return rank * 100000 + round * 10000 + index; }

/* How the partitions are handed over: one by one, backwards, as a range, as a list. */
static void hand_over(int how, int partitions, MPI_Request request) {
  int list[TOTAL], half = partitions / 2;
  for (int i = 0; i < partitions; ++i) list[i] = (i * 7 + 3) % partitions;
  if (how == 0) {
    for (int i = 0; i < partitions; ++i) OK(MPI_Pready(i, request));
  } else if (how == 1) {
    for (int i = partitions - 1; i >= 0; --i) OK(MPI_Pready(i, request));
  } else if (how == 2 || partitions % 7 == 0) {
    if (half < partitions) OK(MPI_Pready_range(half, partitions - 1, request));
    if (half > 0) OK(MPI_Pready_range(0, half - 1, request));
  } else {
    OK(MPI_Pready_list(partitions, list, request));
  }
}

/* stride 1: ints one after the other; 2: every other one. */
static void ring(int sent, int received, int stride, int how) {
  int* const out = malloc(sizeof(int) * TOTAL * 2);
  int* const in = malloc(sizeof(int) * TOTAL * 2);
  MPI_Datatype type;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int flag, count;
  OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * stride, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Psend_init(out, sent, TOTAL / sent, type, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Precv_init(in, received, TOTAL / received, type, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[1]));
  OK(MPI_Type_free(&type));
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < 2 * TOTAL; ++i) in[i] = -1;
    for (int i = 0; i < TOTAL; ++i) out[i * stride] = value(me, round, i);
    if (round == 1) {
      OK(MPI_Start(&requests[1]));
      OK(MPI_Start(&requests[0]));
    } else {
      OK(MPI_Startall(2, requests));
    }
    hand_over(how, sent, requests[0]);
    for (int p = received - 1; p >= 0; --p) {
      for (flag = 0; !flag;) OK(MPI_Parrived(requests[1], p, &flag));
      const int each = TOTAL / received;
      for (int i = p * each; i < (p + 1) * each; ++i) CHECK_EQ(in[i * stride], value(previous, round, i));
    }
    OK(MPI_Waitall(2, requests, statuses));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    CHECK_EQ(statuses[1].MPI_SOURCE, previous);
    CHECK_EQ(statuses[1].MPI_TAG, 5);
    OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
    CHECK_EQ(count, TOTAL);
    if (stride == 2)
      for (int i = 0; i < TOTAL; ++i) CHECK_EQ(in[2 * i + 1], -1);
  }
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  static const int kDivisions[] = {1, 2, 9, 16, 360, 720};
  MPI_Init(&argc, &argv);
  me = world_rank();
  size = world_size();
  next = (me + 1) % size;
  previous = (me + size - 1) % size;
  int how = 0;
  for (int s = 0; s < 6; ++s)
    for (int r = 0; r < 6; ++r)
      for (int stride = 1; stride <= 2; ++stride) ring(kDivisions[s], kDivisions[r], stride, how++ % 4);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
