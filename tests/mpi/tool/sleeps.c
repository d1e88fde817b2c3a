/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait that sleeps is woken by what it waits for: no sleep runs into its limit although something has come.
 * That would cost time only (docs/design/waiting.md), so it is counted. Run with wait_spin_us=0 and
 * wait_yield_us=0, so that every wait sleeps. np: 2+ */
#include "sleeps.h"

enum { ROUNDS = 1500, ONE_WAY = 300, LONG = 3 << 20, LONG_ROUNDS = 30, SHARED_ROUNDS = 300 };

static int me, size;
static unsigned seed;

/* With the neighbour of the pair; the last one of an odd number is left out. */
static int partner(void) { return (me ^ 1) < size ? (me ^ 1) : MPI_PROC_NULL; }

static void back_and_forth(void) {
  int word = 0;
  const int other = partner();
  for (int i = 0; i < ROUNDS; ++i) {
    pass_a_while(&seed, 20);
    if (me % 2 == 0) OK(MPI_Send(&i, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&word, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (me % 2 == 1) OK(MPI_Send(&i, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
    if (other != MPI_PROC_NULL) CHECK_EQ(word, i);
    if (i % 100 == 0) nothing_missed("back and forth");
  }
}

/* One sends, and waits for room or for the end of what was announced; the other one takes its time. */
static void one_way(void) {
  char* const piece = calloc(1, LONG);
  const int other = partner();
  for (int i = 0; i < ONE_WAY; ++i) {
    const int bytes = i % 3 == 0 ? LONG : i % 3 == 1 ? 4000 : 1;
    if (i % 20 == 0) nothing_missed("one way");
    if (me % 2 == 0) {
      if (i % 9 == 1) OK(MPI_Ssend(piece, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD));
      OK(MPI_Send(piece, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD));
    } else {
      pass_a_while(&seed, 500);
      if (i % 9 == 1) OK(MPI_Recv(piece, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Recv(piece, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
  }
  free(piece);
}

static void long_messages(void) {
  char* const out = calloc(1, LONG);
  char* const in = calloc(1, LONG);
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  MPI_Request requests[2];
  for (int i = 0; i < LONG_ROUNDS; ++i) {
    fill(out, LONG, me + i);
    nothing_missed("long messages");
    if (i % 3 == 0) pass_a_while(&seed, 2000);
    OK(MPI_Irecv(in, LONG, MPI_BYTE, previous, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, LONG, MPI_BYTE, next, 4, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(first_difference(in, LONG, previous + i), -1);
  }
  free(out);
  free(in);
}

/* In shared memory members say whom they wait for, and only that one rings. */
static void collectives(void) {
  static int long_vector[5000], sums[5000];
  for (int i = 0; i < SHARED_ROUNDS; ++i) {
    int value = me + i, sum = -1, from = i % size;
    if (i % 20 == 0) nothing_missed("collectives");
    pass_a_while(&seed, 100);
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, size * (size - 1) / 2 + size * i);
    if (me == from) pass_a_while(&seed, 100);
    OK(MPI_Bcast(&from, 1, MPI_INT, i % size, MPI_COMM_WORLD));
    if (i % 7 == 0) OK(MPI_Barrier(MPI_COMM_WORLD));
    if (i % 10 == 0) OK(MPI_Allreduce(long_vector, sums, 5000, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    OK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, i % size, MPI_COMM_WORLD));
    OK(MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  }
}

int main(int argc, char** argv) {
  if (!sleeps_are_counted()) return CHECK_SKIP;
  OK(MPI_Init(&argc, &argv));
  me = world_rank();
  size = world_size();
  if (size < 2) return finish();
  seed = (unsigned)me;
  back_and_forth();
  one_way();
  long_messages();
  collectives();
  nothing_missed("the end");
  CHECK(sleeps("wait_sleeps") > 0);
  CHECK(sleeps("wait_sleeps") >= sleeps("wait_sleeps_to_limit"));
  OK(MPI_Finalize());
  OK(MPI_T_finalize());
  return 0;
}
