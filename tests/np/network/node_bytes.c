/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes between nodes of one call of a collective on long vectors, as rank 0 prints them beside what no
 * algorithm can do without: "bcast 1048576 1048576". The nodes have equally many members, in rank order.
 *   usage: node_bytes NODES */
#include "sent.h"

#include <stdlib.h>

enum { VECTOR = 1 << 20, WARM = 40, CALLS = 3 };

static int size;
static char *in, *out;

static double sent(void) { return (double)sent_to_other_nodes("bytes", MPI_T_PVAR_CLASS_AGGREGATE); }

static int doubles(int bytes) { return bytes / (int)sizeof(double); }
static void bcast(void) { MPI_Bcast(in, VECTOR, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, doubles(VECTOR), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, doubles(VECTOR), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(void) {
  MPI_Reduce_scatter_block(in, out, doubles(VECTOR / size), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void allgather(void) {
  MPI_Allgather(in, VECTOR / size, MPI_BYTE, out, VECTOR / size, MPI_BYTE, MPI_COMM_WORLD);
}
static void gather(void) {
  MPI_Gather(in, VECTOR / size, MPI_BYTE, out, VECTOR / size, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(void) {
  MPI_Scatter(in, VECTOR / size, MPI_BYTE, out, VECTOR / size, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void alltoall(void) {
  MPI_Alltoall(in, VECTOR / size, MPI_BYTE, out, VECTOR / size, MPI_BYTE, MPI_COMM_WORLD);
}

/* `vectors`: how many whole vectors cross between nodes at least, for each node but one. A whole vector
 * is the blocks of all members; what a node sends to the others of an alltoall is a block from each of
 * its members to each of theirs. A long reduction is a reduce_scatter among the nodes and a gather of its
 * parts, which shares the work between them. */
static const struct {
  const char* name;
  void (*call)(void);
  double vectors;
  int of_own_blocks; /* a node's part of the vector only, for each other node */
} calls[] = {{"bcast", bcast, 1, 0},         {"reduce", reduce, 1, 0},
             {"allreduce", allreduce, 2, 0}, {"reduce_scatter", reduce_scatter, 1, 0},
             {"allgather", allgather, 1, 0}, {"gather", gather, 1, 1},
             {"scatter", scatter, 1, 1},     {"alltoall", alltoall, 0, 0}};

int main(int argc, char** argv) {
  int me, nodes, provided;
  if (argc != 2 || (nodes = atoi(argv[1])) < 1) return 2;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = calloc(1, VECTOR);
  out = calloc(1, VECTOR);
  for (unsigned which = 0; which < sizeof calls / sizeof *calls; ++which) {
    double before, mine, sum, least = calls[which].vectors * (nodes - 1) * VECTOR;
    if (calls[which].of_own_blocks) least /= nodes;
    if (calls[which].call == reduce) least += (nodes - 1) * (double)VECTOR / nodes;
    if (least == 0) least = (double)(nodes - 1) * VECTOR * (size / nodes); /* alltoall */
    for (int i = 0; i < WARM; ++i) calls[which].call();
    MPI_Barrier(MPI_COMM_WORLD);
    before = sent();
    for (int i = 0; i < CALLS; ++i) calls[which].call();
    mine = (sent() - before) / CALLS;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%s %.0f %.0f\n", calls[which].name, sum, least);
  }
  free(in);
  free(out);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
