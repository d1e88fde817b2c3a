/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives over several nodes.
 *   values   results in communicators whose members come in several orders and numbers, from every root
 *   count    messages between nodes of one call each, printed by rank 0: "barrier 2"
 *   die      the last rank is killed; the others go on until each has an error, which it prints
 *   usage: nodes values|count|die */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 40, CALLS = 10, LONGEST = 20000 };

static void check(int right, const char* what, int root) {
  if (right) return;
  printf("wrong: %s, root %d\n", what, root);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* x -> a x + b, one after the other: not commutative. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const unsigned* first = in;
  unsigned* second = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) {
    second[2 * i + 1] += second[2 * i] * first[2 * i + 1];
    second[2 * i] *= first[2 * i];
  }
}

static void values_on(MPI_Comm comm, int count, MPI_Op op) {
  int me, size;
  unsigned *mine = malloc(sizeof *mine * 2u * LONGEST), *all = malloc(sizeof *all * 2u * LONGEST);
  unsigned expected[2] = {1, 0};
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < count; ++i) {
    mine[2 * i] = 2u * (unsigned)me + 3u;
    mine[2 * i + 1] = (unsigned)(me + i);
  }
  for (int rank = 0; rank < size; ++rank) {
    expected[1] = expected[1] * (2u * (unsigned)rank + 3u) + (unsigned)(rank + count - 1);
    expected[0] *= 2u * (unsigned)rank + 3u;
  }
  for (int root = 0; root < size; ++root) {
    const unsigned* const last = all + 2 * (count - 1);
    memset(all, 0, sizeof *all * 2u * (size_t)count);
    MPI_Reduce(mine, all, count, MPI_2INT, op, root, comm);
    if (me == root) check(last[0] == expected[0] && last[1] == expected[1], "reduce", root);
    MPI_Allreduce(mine, all, count, MPI_2INT, op, comm);
    check(last[0] == expected[0] && last[1] == expected[1], "allreduce", root);
    MPI_Allreduce(mine, all, 2 * count, MPI_UNSIGNED, MPI_SUM, comm);
    check(all[0] == (unsigned)(size * (size + 2)), "sum", root);
    for (int i = 0; i < 2 * count; ++i) all[i] = me == root ? (unsigned)(root * 7 + i) : 0;
    MPI_Bcast(all, 2 * count, MPI_UNSIGNED, root, comm);
    check(all[2 * count - 1] == (unsigned)(root * 7 + 2 * count - 1), "bcast", root);
    MPI_Barrier(comm);
  }
  free(mine);
  free(all);
}

static void values(void) {
  const int counts[] = {1, 500, LONGEST};
  int me, size;
  MPI_Op op;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(compose, 0, &op);
  /* By rank, backwards, every other one first, and without the first: its node has fewer members then. */
  for (int order = 0; order < 4; ++order) {
    const int keys[] = {me, -me, me % 2 * size + me, me};
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, order == 3 && me == 0 ? MPI_UNDEFINED : 0, keys[order], &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; ++c)
      for (int again = 0; again < 3; ++again) values_on(comm, counts[c], op);
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&op);
}

/* Messages to other nodes that this process has sent so far. */
static unsigned long long sent(void) {
  static const char* const names[] = {"pml_remote_eager_messages", "pml_remote_ring_messages",
                                      "pml_remote_get_messages"};
  unsigned long long sum = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    unsigned long long value;
    int index, count;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
      MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_read(session, handle, &value);
    sum += value;
    MPI_T_pvar_handle_free(session, &handle);
  }
  MPI_T_pvar_session_free(&session);
  return sum;
}

static void call(int which) {
  double in = 1, out;
  switch (which) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
    default: MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void count(int me) {
  const char* const names[] = {"barrier", "bcast", "reduce", "allreduce"};
  for (int which = 0; which < 4; ++which) {
    unsigned long long before, mine, sum = 0;
    for (int i = 0; i < WARM; ++i) call(which);
    MPI_Barrier(MPI_COMM_WORLD);
    before = sent();
    for (int i = 0; i < CALLS; ++i) call(which);
    mine = sent() - before;
    MPI_Reduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%s %g\n", names[which], (double)sum / CALLS);
  }
}

static void die(int me, int size) {
  int rc = MPI_SUCCESS, kind, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; rc == MPI_SUCCESS; ++i) {
    double in = 1, out;
    if (me == size - 1 && i == WARM) raise(SIGKILL);
    rc = MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Error_class(rc, &kind);
  MPI_Error_string(rc, text, &length);
  printf("rank %d: %s: %s\n", me, kind == MPI_ERR_PROC_ABORTED ? "aborted" : "other", text);
  fflush(stdout);
  _Exit(0);
}

int main(int argc, char** argv) {
  int me, size, provided;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc == 2 && strcmp(argv[1], "values") == 0)
    values();
  else if (argc == 2 && strcmp(argv[1], "count") == 0)
    count(me);
  else if (argc == 2 && strcmp(argv[1], "die") == 0)
    die(me, size);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
