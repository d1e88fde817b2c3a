/* SPDX-License-Identifier: BSD-3-Clause */
/* A member of another node is killed while local peers agree on the memory of their board: ranks 0 and 2 have
 * said what they have to say and wait for rank 1, who has got all of it, but comes when they have given up.
 * It has a board that they have not. Five ranks on two nodes, 0 to 2 and 3, 4. Prints what became of each
 * call. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE = 1, VICTIM = 3, LOCAL_PEERS = 3, BEFORE = 2, LONGEST = 120 };
/* What ranks 0 and 2 have to say to rank 1: the place of the memory, and that they see it. */
enum { MESSAGES = 3 };

static unsigned long long unexpected(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  unsigned long long number = 0;
  int index, count;
  if (MPI_T_pvar_session_create(&session) != MPI_SUCCESS ||
      MPI_T_pvar_get_index("pml_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS ||
      MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS ||
      MPI_T_pvar_read(session, handle, &number) != MPI_SUCCESS)
    exit(2);
  MPI_T_pvar_session_free(&session);
  return number;
}

/* Without MPI, which would hear of the loss. */
static void await(const volatile int* flags, int first, int last) {
  for (int i = first; i <= last; ++i) {
    while (flags[i] == 0) usleep(1000);
  }
}

static void report(int me, const char* which, int rc) {
  int kind = rc, length;
  char text[MPI_MAX_ERROR_STRING] = "";
  if (rc != MPI_SUCCESS) MPI_Error_class(rc, &kind);
  MPI_Error_string(rc, text, &length);
  printf("rank %d: %s: %s: %s\n", me, which, kind == MPI_ERR_PROC_ABORTED ? "aborted" : "other", text);
  fflush(stdout);
}

static void be_late(volatile int* flags) {
  const unsigned long long first = unexpected();
  int found;
  flags[LATE] = 1;
  while (unexpected() < first + MESSAGES) MPI_Iprobe(LATE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Send(NULL, 0, MPI_BYTE, VICTIM, 2, MPI_COMM_WORLD);
  await(flags, 0, 0);
  await(flags, 2, 2);
}

int main(int argc, char** argv) {
  int me, local, provided, unit;
  MPI_Comm all, node;
  MPI_Win window;
  MPI_Aint bytes;
  volatile int* flags; /* of rank 0: [rank] for who has come so far, then for who has ended its calls */
  void* base;
  alarm(LONGEST);
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &local);
  if (local != (me < LOCAL_PEERS ? LOCAL_PEERS : 2)) return 2;
  MPI_Win_allocate_shared(2 * LOCAL_PEERS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &window);
  for (int i = 0; i < 2 * LOCAL_PEERS; ++i) ((int*)base)[i] = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
  flags = base;
  MPI_Barrier(node);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  for (int i = 0; i < BEFORE; ++i) MPI_Barrier(all);
  if (me == VICTIM) {
    MPI_Recv(NULL, 0, MPI_BYTE, LATE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (me == LATE) be_late(flags);
  if (me < LOCAL_PEERS && me != LATE) await(flags, LATE, LATE);
  report(me, "first", MPI_Barrier(all));
  if (me < LOCAL_PEERS) flags[me] = 1;
  report(me, "second", MPI_Barrier(all));
  /* The end of one would tell the others. */
  if (me < LOCAL_PEERS) flags[LOCAL_PEERS + me] = 1;
  if (me < LOCAL_PEERS) await(flags, LOCAL_PEERS, 2 * LOCAL_PEERS - 1);
  _Exit(0);
}
