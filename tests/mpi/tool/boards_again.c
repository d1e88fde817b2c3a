/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory in which collectives of a node meet is given back with each communicator: the last one of
 * many sends as few messages as the first. Those that are kept get none in the end. Run with
 * coll_node_total_bytes so small that a few communicators would take all of it. np: 2-8 */
#include "check.h"

enum { ROUNDS = 200 };

static MPI_Comm kept[ROUNDS];

static unsigned long long messages_sent(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  unsigned long long number = 0;
  int index, count;
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_get_index("pml_node_eager_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  OK(MPI_T_pvar_read(session, handle, &number));
  OK(MPI_T_pvar_session_free(&session));
  return number;
}

/* A communicator's life: how many messages it took. It goes on if it is kept. */
static unsigned long long messages_of_one(int size, MPI_Comm* place) {
  static int in[500], out[500];
  MPI_Comm comm;
  const unsigned long long before = messages_sent();
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  for (int i = 0; i < 20; ++i) {
    int one = 1, sum = 0;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size);
    OK(MPI_Allreduce(in, out, 500, MPI_INT, MPI_SUM, comm));
  }
  const unsigned long long sent = messages_sent() - before;
  if (place != NULL)
    *place = comm;
  else
    OK(MPI_Comm_free(&comm));
  OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have freed it: its memory is there for the next one */
  return sent;
}

int main(int argc, char** argv) {
  int level, index;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  if (MPI_T_pvar_get_index("pml_node_eager_messages", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
    return CHECK_SKIP; /* another MPI */
  OK(MPI_Init(&argc, &argv));
  const int size = world_size();
  if (size < 2) return finish();
  for (int i = 0; i < 5; ++i) OK(MPI_Barrier(MPI_COMM_WORLD)); /* its own board is there now */
  (void)messages_of_one(size, NULL);
  const unsigned long long first = messages_of_one(size, NULL);
  for (int i = 0; i < ROUNDS; ++i) CHECK_EQ(messages_of_one(size, NULL), first);
  unsigned long long last = first;
  for (int i = 0; i < ROUNDS; ++i) last = messages_of_one(size, &kept[i]);
  CHECK(last > first);
  for (int i = 0; i < ROUNDS; ++i) OK(MPI_Comm_free(&kept[i]));
  OK(MPI_Finalize());
  OK(MPI_T_finalize());
  return 0;
}
