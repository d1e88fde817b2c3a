/* SPDX-License-Identifier: BSD-3-Clause */
/* A blocking and a nonblocking collective on one communicator, in another order on every second process.
 * MPI 5.0 section 6.14 calls that erroneous; MPI libraries count the two apart, and libraries above MPI have
 * agreed by nonblocking reductions beside blocking calls for years. Starling promises it
 * (docs/design/collectives.md). */
#include "coll.h"

enum { TURNS = 60, COUNT = 300 };

static void swap_blocking_and_nonblocking(int me, int size) {
  int *data = ints(COUNT), *sum = ints(COUNT), *all = ints(COUNT * size);
  for (int turn = 0; turn < TURNS; ++turn) {
    const int first = (me + turn) % 2, root = turn % size, count = turn % 3 == 0 ? COUNT : 1;
    MPI_Request requests[2];
    int agreed = me + turn, most = 0;
    for (int i = 0; i < count; ++i) data[i] = me == root ? value_of(root + turn, i) : -1;
    for (int i = 0; i < count; ++i) sum[i] = -1;
    if (first) OK(MPI_Iallreduce(&agreed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD));
    if (first) OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Allgather(data, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD));
    if (!first) OK(MPI_Iallreduce(&agreed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Allreduce(data, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (!first) OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(most, size - 1 + turn);
    for (int i = 0; i < count; ++i) {
      CHECK_EQ(data[i], value_of(root + turn, i));
      CHECK_EQ(sum[i], size * value_of(root + turn, i));
      CHECK_EQ(all[(size - 1) * count + i], value_of(root + turn, i));
    }
  }
  free(data);
  free(sum);
  free(all);
}

/* Making communicators is a collective of one of the two kinds as well. */
static void swap_duplication(int me, int size) {
  for (int turn = 0; turn < 10; ++turn) {
    const int first = (me + turn) % 2;
    MPI_Comm later, halves;
    MPI_Request request;
    int sum = 0;
    if (first) OK(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request));
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &halves));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!first) OK(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, later));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&halves));
  }
}

#ifdef MPI_ABI_VERSION /* peers have one sequence for what is initialised and what is nonblocking */
static void swap_initialisation(int me, int size) {
  for (int turn = 0; turn < 10; ++turn) {
    const int first = (me + turn) % 2;
    MPI_Request kept, once;
    int sum = 0, most = 0, mine = me + turn;
    if (first) OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept));
    OK(MPI_Iallreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &once));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!first)
      OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept));
    OK(MPI_Start(&kept));
    OK(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    CHECK_EQ(sum, size * (size - 1) / 2 + size * turn);
    CHECK_EQ(most, size - 1 + turn);
    OK(MPI_Request_free(&kept));
  }
}
#else
static void swap_initialisation(int me, int size) { (void)me, (void)size; }
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  swap_blocking_and_nonblocking(me, size);
  swap_duplication(me, size);
  swap_initialisation(me, size);
  return finish();
}
