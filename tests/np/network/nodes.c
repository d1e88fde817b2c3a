/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives over several nodes.
 *   values   results in communicators whose members come in several orders and numbers, from every root
 *   count    messages between nodes of one call each, printed by rank 0: "barrier 2"
 *   many     cells that hold less than an element or 16 bytes for each member of a wide node
 *   barrier D  nobody leaves before the last has come, who makes a file in directory D shortly before
 *   die X R  rank R is killed; the others go on with X until each has an error, which it prints
 *   usage: nodes values|count|many|barrier D|die X R */
#include "sent.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Blocks between all, of sizes that both ends know: from none to more than travels with others of a node. */
static int block(int from, int to) {
  const int lengths[] = {0, 3, 1, 700, 20, 5};
  return lengths[(5 * from + 3 * to + from * to) % 6];
}

/* A block for each rank, one after the other; the sum of their sizes. */
static int lay_out(int size, int me, int sends, int* counts, int* places) {
  int sum = 0;
  for (int rank = 0; rank < size; ++rank) {
    counts[rank] = sends ? block(me, rank) : block(rank, me);
    places[rank] = sum;
    sum += counts[rank];
  }
  return sum;
}

static int word(int from, int to, int i) { return 1000003 * from + 1009 * to + i; }

static void exchange_on(MPI_Comm comm) {
  enum { RANKS = 32 };
  int me, size, counts[2][RANKS], places[2][RANKS], sent, received;
  int *in, *out;
  MPI_Request request;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  sent = lay_out(size, me, 1, counts[0], places[0]);
  received = lay_out(size, me, 0, counts[1], places[1]);
  in = malloc(sizeof *in * (size_t)(sent + 1));
  out = malloc(sizeof *out * (size_t)(received + 1));
  for (int rank = 0; rank < size; ++rank)
    for (int i = 0; i < counts[0][rank]; ++i) in[places[0][rank] + i] = word(me, rank, i);
  MPI_Alltoallv_init(in, counts[0], places[0], MPI_INT, out, counts[1], places[1], MPI_INT, comm,
                     MPI_INFO_NULL, &request);
  for (int form = 0; form < 4; ++form) {
    for (int i = 0; i <= received; ++i) out[i] = -1;
    if (form < 2) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (form == 2) {
      MPI_Request once;
      MPI_Ialltoallv(in, counts[0], places[0], MPI_INT, out, counts[1], places[1], MPI_INT, comm, &once);
      MPI_Wait(&once, MPI_STATUS_IGNORE);
    } else {
      MPI_Alltoallv(in, counts[0], places[0], MPI_INT, out, counts[1], places[1], MPI_INT, comm);
    }
    for (int rank = 0; rank < size; ++rank)
      for (int i = 0; i < counts[1][rank]; ++i)
        check(out[places[1][rank] + i] == word(rank, me, i), "alltoallv", form);
    check(out[received] == -1, "alltoallv", form);
  }
  MPI_Request_free(&request);
  free(in);
  free(out);
}

/* Equal blocks; in place where every process can say so. */
static void equal_on(MPI_Comm comm, int count) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  int *in = malloc(sizeof *in * (size_t)(size * count)), *out = malloc(sizeof *out * (size_t)(size * count));
  for (int place = 0; place < 2; ++place) {
    for (int i = 0; i < size * count; ++i) {
      in[i] = word(me, i / count, i % count);
      out[i] = place ? in[i] : -1;
    }
    MPI_Alltoall(place ? MPI_IN_PLACE : in, count, MPI_INT, out, count, MPI_INT, comm);
    for (int i = 0; i < size * count; ++i) check(out[i] == word(i / count, me, i % count), "alltoall", place);
    for (int i = 0; i < size * count; ++i) out[i] = i / count == me ? word(me, 0, i % count) : -1;
    MPI_Allgather(place ? MPI_IN_PLACE : out + me * count, count, MPI_INT, place ? out : in, count, MPI_INT,
                  comm);
    for (int i = 0; i < size * count; ++i)
      check((place ? out : in)[i] == word(i / count, 0, i % count), "allgather", place);
  }
  free(in);
  free(out);
}

/* The function that composes needs pairs: (me + 2) x + 1 of each rank. */
static void prefix_on(MPI_Comm comm, MPI_Op op) {
  int me, size;
  unsigned mine[2], got[2] = {0, 0}, expected[2] = {1, 0}, below[2] = {1, 0};
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  mine[0] = (unsigned)me + 2;
  mine[1] = 1;
  for (int rank = 0; rank <= me; ++rank) {
    memcpy(below, expected, sizeof below);
    expected[1] = expected[1] * ((unsigned)rank + 2) + 1;
    expected[0] *= (unsigned)rank + 2;
  }
  MPI_Scan(mine, got, 1, MPI_2INT, op, comm);
  check(memcmp(got, expected, sizeof got) == 0, "scan", me);
  MPI_Exscan(mine, got, 1, MPI_2INT, op, comm);
  check(me == 0 || memcmp(got, below, sizeof got) == 0, "exscan", me);
  memcpy(got, mine, sizeof got);
  MPI_Exscan(MPI_IN_PLACE, got, 1, MPI_2INT, op, comm);
  check(me == 0 || memcmp(got, below, sizeof got) == 0, "exscan in place", me);
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
    exchange_on(comm);
    equal_on(comm, 1);
    equal_on(comm, 300);
    prefix_on(comm, op);
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&op);
}

enum { RANKS = 16, BLOCK = 100 };
static double in[RANKS * BLOCK], out[RANKS * BLOCK];
static int equal[RANKS], places[RANKS];

static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static int bcast(void) { return MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static int reduce(void) { return MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static int allreduce(void) { return MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static int allgather(void) { return MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD); }
static int allgatherv(void) {
  return MPI_Allgatherv(in, BLOCK, MPI_DOUBLE, out, equal, places, MPI_DOUBLE, MPI_COMM_WORLD);
}
static int gather(void) { return MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static int gatherv(void) {
  return MPI_Gatherv(in, BLOCK, MPI_DOUBLE, out, equal, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static int scatter(void) { return MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static int scatterv(void) {
  return MPI_Scatterv(in, equal, places, MPI_DOUBLE, out, BLOCK, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static int alltoall(void) { return MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD); }
static int alltoallv(void) {
  return MPI_Alltoallv(in, equal, places, MPI_DOUBLE, out, equal, places, MPI_DOUBLE, MPI_COMM_WORLD);
}
static int ialltoallv(void) {
  MPI_Request request;
  MPI_Ialltoallv(in, equal, places, MPI_DOUBLE, out, equal, places, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int reduce_scatter(void) {
  return MPI_Reduce_scatter_block(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static int scan(void) { return MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static int exscan(void) { return MPI_Exscan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static int wait_for(MPI_Request* request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
static int ibarrier(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int ibcast(void) {
  MPI_Request request;
  MPI_Ibcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int ireduce(void) {
  MPI_Request request;
  MPI_Ireduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int iallreduce(void) {
  MPI_Request request;
  MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int iallgather(void) {
  MPI_Request request;
  MPI_Iallgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int igather(void) {
  MPI_Request request;
  MPI_Igather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int iscatter(void) {
  MPI_Request request;
  MPI_Iscatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int ialltoall(void) {
  MPI_Request request;
  MPI_Ialltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int ireduce_scatter(void) {
  MPI_Request request;
  MPI_Ireduce_scatter_block(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int iscan(void) {
  MPI_Request request;
  MPI_Iscan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
static int iexscan(void) {
  MPI_Request request;
  MPI_Iexscan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  return wait_for(&request);
}
/* The persistent ones are made at their first call and kept to the end. */
static int started(MPI_Request* request) {
  MPI_Start(request);
  return wait_for(request);
}
static int barrier_init(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return started(&request);
}
static int bcast_init(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL)
    MPI_Bcast_init(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return started(&request);
}
static int reduce_init(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL)
    MPI_Reduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return started(&request);
}
static int allreduce_init(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL)
    MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return started(&request);
}

static const struct {
  const char* name;
  int (*call)(void);
} calls[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"reduce", reduce},
             {"allreduce", allreduce},
             {"allgather", allgather},
             {"allgatherv", allgatherv},
             {"gather", gather},
             {"gatherv", gatherv},
             {"scatter", scatter},
             {"scatterv", scatterv},
             {"alltoall", alltoall},
             {"alltoallv", alltoallv},
             {"ialltoallv", ialltoallv},
             {"reduce_scatter", reduce_scatter},
             {"scan", scan},
             {"exscan", exscan},
             {"ibarrier", ibarrier},
             {"ibcast", ibcast},
             {"ireduce", ireduce},
             {"iallreduce", iallreduce},
             {"iallgather", iallgather},
             {"igather", igather},
             {"iscatter", iscatter},
             {"ialltoall", ialltoall},
             {"ireduce_scatter", ireduce_scatter},
             {"iscan", iscan},
             {"iexscan", iexscan},
             {"barrier_init", barrier_init},
             {"bcast_init", bcast_init},
             {"reduce_init", reduce_init},
             {"allreduce_init", allreduce_init}};

static void set_blocks(void) {
  for (int rank = 0; rank < RANKS; ++rank) {
    equal[rank] = BLOCK;
    places[rank] = rank * BLOCK;
  }
}

static void count(int me) {
  set_blocks();
  for (unsigned which = 0; which < sizeof calls / sizeof *calls; ++which) {
    unsigned long long before, mine, sum = 0;
    for (int i = 0; i < WARM; ++i) calls[which].call();
    MPI_Barrier(MPI_COMM_WORLD);
    before = sent_to_other_nodes("messages", MPI_T_PVAR_CLASS_COUNTER);
    for (int i = 0; i < CALLS; ++i) calls[which].call();
    mine = sent_to_other_nodes("messages", MPI_T_PVAR_CLASS_COUNTER) - before;
    MPI_Reduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%s %g\n", calls[which].name, (double)sum / CALLS);
  }
}

/* Elements of 4,800 bytes. */
enum { WIDE = 600, ELEMENTS = 20 };
static void add_wide(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count * WIDE; ++i) ((double*)inout)[i] += ((double*)in)[i];
}

static void many(int me, int size) {
  double* const mine = malloc(sizeof *mine * WIDE * ELEMENTS);
  int *const parts = malloc(sizeof *parts * (size_t)size), sum = 0;
  MPI_Datatype wide;
  MPI_Op add;
  MPI_Type_contiguous(WIDE, MPI_DOUBLE, &wide);
  MPI_Type_commit(&wide);
  MPI_Op_create(add_wide, 1, &add);
  for (int again = 0; again < 3; ++again) {
    for (int rank = 0; rank < size; ++rank) parts[rank] = me + rank;
    MPI_Reduce_scatter_block(parts, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size * (size - 1) / 2 + size * me, "reduce_scatter_block", again);
    for (int i = 0; i < WIDE * ELEMENTS; ++i) mine[i] = me + i;
    MPI_Allreduce(MPI_IN_PLACE, mine, ELEMENTS, wide, add, MPI_COMM_WORLD);
    for (int i = 0; i < WIDE * ELEMENTS; ++i)
      check(mine[i] == size * (size - 1) / 2 + (double)size * i, "allreduce of long elements", again);
  }
  MPI_Op_free(&add);
  MPI_Type_free(&wide);
  free(mine);
  free(parts);
}

static void late(int me, int size, const char* directory) {
  char name[4096];
  for (int again = 0; again < 2 * size; ++again) { /* the first ones are by messages */
    snprintf(name, sizeof name, "%s/came-%d", directory, again);
    if (me == again % size) {
      usleep(20000);
      FILE* const file = fopen(name, "w");
      check(file != NULL && fclose(file) == 0, "file of", again);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(access(name, F_OK) == 0, "barrier without", again % size);
  }
}

static void die(int me, int victim, const char* name) {
  int rc = MPI_SUCCESS, kind, length;
  unsigned which = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  set_blocks();
  while (strcmp(calls[which].name, name) != 0) ++which;
  MPI_Barrier(MPI_COMM_WORLD); /* all have begun: a prefix waits for nobody above */
  for (int i = 0; rc == MPI_SUCCESS; ++i) {
    if (me == victim && i == WARM) raise(SIGKILL);
    rc = calls[which].call();
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
  else if (argc == 2 && strcmp(argv[1], "many") == 0)
    many(me, size);
  else if (argc == 3 && strcmp(argv[1], "barrier") == 0)
    late(me, size, argv[2]);
  else if (argc == 4 && strcmp(argv[1], "die") == 0)
    die(me, atoi(argv[3]), argv[2]);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
