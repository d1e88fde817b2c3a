/* SPDX-License-Identifier: BSD-3-Clause */
/* What communicators hold is given back with them: thousands of them, used by collectives and by partitioned
 * messages one after the other, take no more memory than a few (MPI 5.0, 7.4.3). */
#include <malloc.h>

#include "check.h"

enum { SPANS = 4, ROUNDS = 500, MOST_EACH = 40, ELEMENTS = 500 };

/* Bytes that malloc has given out; 0 where that is not counted. */
static size_t in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
#else
  return 0;
#endif
}

static void use_collectives(MPI_Comm comm) {
  static int in[ELEMENTS], out[ELEMENTS];
  for (int i = 0; i < 5; ++i) {
    OK(MPI_Allreduce(in, out, i < 4 ? 1 : ELEMENTS, MPI_INT, MPI_SUM, comm));
    OK(MPI_Bcast(out, ELEMENTS, MPI_INT, 0, comm));
  }
}

#if MPI_VERSION >= 4
static void use_partitions(MPI_Comm comm, int me, int size) {
  static int out[4], in[4];
  MPI_Request requests[2];
  OK(MPI_Psend_init(out, 2, 2, MPI_INT, (me + 1) % size, 1, comm, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Precv_init(in, 2, 2, MPI_INT, (me + size - 1) % size, 1, comm, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Startall(2, requests));
  OK(MPI_Pready_range(0, 1, requests[0]));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i) OK(MPI_Request_free(&requests[i]));
}
#else
static void use_partitions(MPI_Comm comm, int me, int size) {
  (void)comm;
  (void)me;
  (void)size;
}
#endif

/* A communicator's life, many times: the bytes that stay. */
static long long growth(int me, int size) {
  const size_t before = in_use();
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    use_collectives(comm);
    use_partitions(comm, me, size);
    OK(MPI_Comm_free(&comm));
  }
  return (long long)in_use() - (long long)before;
}

/* What grows once, as pools do, does so in one of the spans; what stays of each communicator, in all. */
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  long long least = growth(me, size);
  for (int span = 1; span < SPANS; ++span) {
    const long long now = growth(me, size);
    if (now < least) least = now;
  }
  if (least > ROUNDS * MOST_EACH)
    fprintf(stderr, "rank %d: %lld bytes of each communicator stay\n", me, least / ROUNDS);
  CHECK(least <= ROUNDS * MOST_EACH);
  return finish();
}
