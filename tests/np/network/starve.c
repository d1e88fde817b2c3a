/* SPDX-License-Identifier: BSD-3-Clause */
/* A member that gets no memory in a collective over several nodes: rank R gets no long piece in every fourth
 * call of X. Each rank prints how such a call has ended: "rank 3, call 0: no memory". Exit code 77: this
 * build cannot refuse memory.
 *   usage: starve X R */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 53760, PARTS = 4, BLOCK_OF_EACH = 1000, MOST_RANKS = 16 };

static void check(int right, const char* what, int root) {
  if (right) return;
  printf("wrong: %s, root %d\n", what, root);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Pieces of these sizes are refused to the library, whose C++ library asks for them here. `only_blocks`: of
 * those from malloc() whole numbers of blocks only, as the transport has buffers of its own. */
static size_t least_refused, most_refused;
static int only_blocks;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* __libc_malloc(size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
static int refused(size_t bytes) { return bytes >= least_refused && bytes <= most_refused; }
void* malloc(size_t bytes) {
  const int may = !only_blocks || bytes % BLOCK_OF_EACH == 0;
  return may && refused(bytes) ? NULL : __libc_malloc(bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return refused(bytes) ? NULL : __libc_memalign(alignment, bytes);
}
enum { CAN_REFUSE = 1 };
#else
enum { CAN_REFUSE = 0 };
#endif

/* Blocks of `count` elements each. */
static int blocks_call(const char* name, double* from, double* to, int count, int size) {
  int counts[MOST_RANKS], places[MOST_RANKS];
  for (int i = 0; i < size; ++i) {
    counts[i] = count;
    places[i] = i * count;
  }
  if (strcmp(name, "alltoallv") == 0)
    return MPI_Alltoallv(from, counts, places, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  if (strcmp(name, "gatherv") == 0)
    return MPI_Gatherv(from, count, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (strcmp(name, "scatterv") == 0)
    return MPI_Scatterv(from, counts, places, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static int long_call(const char* name, double* from, double* to, int size) {
  const int count = LONG / (int)sizeof(double);
  if (strcmp(name, "reduce") == 0) return MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (strcmp(name, "allreduce") == 0)
    return MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(name, "iallreduce") == 0 ||
      strcmp(name, "parts") == 0) { /* parts: above 64 KiB, another algorithm */
    MPI_Request request;
    int rc = MPI_Iallreduce(from, to, strcmp(name, "parts") == 0 ? PARTS * count : count, MPI_DOUBLE, MPI_SUM,
                            MPI_COMM_WORLD, &request);
    return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "iscan") == 0 || strcmp(name, "iexscan") == 0) {
    MPI_Request request;
    int rc = (name[1] == 's' ? MPI_Iscan : MPI_Iexscan)(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                                                        &request);
    return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "reduce_scatter") == 0)
    return MPI_Reduce_scatter_block(from, to, count / size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return blocks_call(name, from, to, BLOCK_OF_EACH / (int)sizeof(double), size);
}

/* Every fourth call, from the first on. What is called in between is right: all have stayed in step. Lengths
 * are such that nobody else asks for as much. */
static void starve(int me, int size, int poor, const char* name) {
  double *const from = calloc(PARTS, LONG), *const to = malloc(PARTS * LONG), one = 1, sum;
  const int alltoall = strncmp(name, "alltoall", 8) == 0, parts = strcmp(name, "parts") == 0;
  const int of_node = strcmp(name, "gatherv") == 0 || strcmp(name, "scatterv") == 0;
  only_blocks = alltoall || of_node;
  if (!CAN_REFUSE) exit(77);
  blocks_call(name, from, to, 1, size); /* transports and schedules have what they need */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 12; ++i) {
    int rc, kind;
    const int starves = i % 4 == 0;
    least_refused = alltoall ? 4 * BLOCK_OF_EACH : of_node ? 2 * BLOCK_OF_EACH : parts ? 2 * LONG : LONG;
    most_refused = !starves || me != poor ? 0
                   : alltoall || of_node  ? 13 * BLOCK_OF_EACH
                   : parts                ? PARTS * LONG
                                          : LONG;
    rc = long_call(name, from, to, size);
    most_refused = 0;
    MPI_Error_class(rc, &kind);
    check(starves || rc == MPI_SUCCESS, "a call with memory", i);
    if (starves)
      printf("rank %d, call %d: %s\n", me, i,
             kind == MPI_ERR_NO_MEM                                     ? "no memory"
             : kind == MPI_ERR_TRUNCATE || kind == MPI_ERR_PROC_ABORTED ? "told"
             : kind == MPI_SUCCESS                                      ? "nothing"
                                                                        : "other");
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size, "allreduce after it", i);
  }
  free(from);
  free(to);
}

int main(int argc, char** argv) {
  int me, size;
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MOST_RANKS) return 2;
  starve(me, size, atoi(argv[2]), argv[1]);
  MPI_Finalize();
  return 0;
}
