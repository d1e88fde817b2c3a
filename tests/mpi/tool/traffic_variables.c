/* SPDX-License-Identifier: BSD-3-Clause */
/* Starling's own performance variables (docs/user-guide.md): each counts what was sent, exactly.
 * MPI 5.0 section 15.3.7. np: 1-4 */
#include "check.h"

enum { SHORT = 100, LONG = 1 << 20 };

static MPI_T_pvar_session session;

static unsigned long long value(const char* name, int class) {
  MPI_T_pvar_handle handle;
  unsigned long long number = 0;
  int index, count;
  OK(MPI_T_pvar_get_index(name, class, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  CHECK_EQ(count, 1);
  OK(MPI_T_pvar_read(session, handle, &number));
  OK(MPI_T_pvar_handle_free(session, &handle));
  return number;
}

struct counts {
  unsigned long long eager, eager_bytes, large, large_bytes;
};

static unsigned long long one(const char* pairs, const char* what, int class) {
  char name[64];
  snprintf(name, sizeof name, "pml_%s_%s", pairs, what);
  return value(name, class);
}

static struct counts read_counts(const char* pairs) {
  struct counts now;
  now.eager = one(pairs, "eager_messages", MPI_T_PVAR_CLASS_COUNTER);
  now.eager_bytes = one(pairs, "eager_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  now.large = one(pairs, "ring_messages", MPI_T_PVAR_CLASS_COUNTER) +
              one(pairs, "get_messages", MPI_T_PVAR_CLASS_COUNTER);
  now.large_bytes = one(pairs, "ring_bytes", MPI_T_PVAR_CLASS_AGGREGATE) +
                    one(pairs, "get_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  return now;
}

/* Every rank sends as many messages to `to` as it gets from `from`; the counts of `pairs` grow by that. */
static void check_messages(const char* pairs, int to, int from, int bytes, unsigned long long times) {
  char* const out = calloc(1, (size_t)bytes);
  char* const in = calloc(1, (size_t)bytes);
  const struct counts before = read_counts(pairs);
  for (unsigned long long i = 0; i < times; ++i) {
    OK(MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  }
  const struct counts after = read_counts(pairs);
  const unsigned long long messages = times, sum = times * (unsigned long long)bytes;
  CHECK_EQ(after.eager - before.eager, bytes == LONG ? 0 : messages);
  CHECK_EQ(after.eager_bytes - before.eager_bytes, bytes == LONG ? 0 : sum);
  CHECK_EQ(after.large - before.large, bytes == LONG ? messages : 0);
  CHECK_EQ(after.large_bytes - before.large_bytes, bytes == LONG ? sum : 0);
  free(out);
  free(in);
}

/* Short messages that wait for their receive are counted by their receiver. */
static void check_unexpected(int rank) {
  char byte = 1, other = 0;
  const unsigned long long before = value("pml_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER);
  OK(MPI_Send(&byte, 1, MPI_BYTE, rank, 2, MPI_COMM_WORLD));
  OK(MPI_Probe(rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(value("pml_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER) >= before + 1); /* others may send, too */
  CHECK(value("pml_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL) > 0);
  CHECK(value("pml_unexpected_bytes_max", MPI_T_PVAR_CLASS_HIGHWATERMARK) > 0);
  OK(MPI_Recv(&other, 1, MPI_BYTE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(other, 1);
}

/* The start took time, and no more of it passes for the start later. */
static void check_startup(void) {
  MPI_T_pvar_handle handle;
  double first = -1, second = -2;
  int index, count;
  OK(MPI_T_pvar_get_index("startup_transports_seconds", MPI_T_PVAR_CLASS_TIMER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  OK(MPI_T_pvar_read(session, handle, &first));
  OK(MPI_T_pvar_read(session, handle, &second));
  OK(MPI_T_pvar_handle_free(session, &handle));
  CHECK(first > 0 && first == second);
}

int main(int argc, char** argv) {
  int level, rank, size, index;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  if (MPI_T_pvar_get_index("pml_self_eager_messages", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) {
    return CHECK_SKIP; /* another MPI */
  }
  OK(MPI_T_pvar_session_create(&session));
  CHECK_EQ(read_counts("self").eager, 0ull); /* MPI has not begun */
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  check_startup();
  check_messages("self", rank, rank, SHORT, 7);
  check_messages("self", rank, rank, 0, 3);
  check_messages("self", rank, rank, LONG, 2);
  check_unexpected(rank);
  if (size > 1) {
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    check_messages("node", to, from, SHORT, 50);
    check_messages("node", to, from, LONG, 3);
  }
  OK(MPI_Finalize());
  CHECK(read_counts("self").eager >= 11); /* they outlive it */
  OK(MPI_T_pvar_session_free(&session));
  OK(MPI_T_finalize());
  return 0;
}
