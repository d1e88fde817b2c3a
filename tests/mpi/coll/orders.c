/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective in each form on communicators whose members come in several orders and numbers: by rank,
 * backwards, every other one first, and without the first. Where ranks lie on several nodes, neighbours in
 * rank then share a node or do not, and nodes have unequal numbers of members. Operations do not commute
 * (MPI-4, 6.9.1: in rank order). */
#include "coll.h"

enum { MAX_RANKS = 64 };

static MPI_Comm comm;
static int me, size, form, root;

static int *give, *take;
static count_t counts[MAX_RANKS];
static place_t places[MAX_RANKS];

/* Of block `to` that rank `from` gives. */
static int word(int from, int to, int i) { return value_of(from, 131 * to + i); }

/* Room for a block each way of each rank; `give` has blocks of `count`, that of rank r at r * count. */
static void buffers(int count) {
  give = ints((long)count * size);
  take = ints((long)count * size);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i) give[r * count + i] = word(me, r, i);
}
static void done(int count) {
  UNTOUCHED(give, (long)count * size);
  UNTOUCHED(take, (long)count * size);
  free(give);
  free(take);
}
/* take[at...] is block `to` of rank `from`. */
static void check_block(long at, int from, int to, int count) {
  for (int i = 0; i < count; ++i) CHECK_EQ(take[at + i], word(from, to, i));
}

static void rooted(int count) {
  buffers(count);
  RUN(form, Bcast, bcast, me == root ? give : take, count, MPI_INT, root, comm);
  if (me != root) check_block(0, root, 0, count);
  RUN(form, Gather, gather, give, count, MPI_INT, take, count, MPI_INT, root, comm);
  for (int r = 0; me == root && r < size; ++r) check_block((long)r * count, r, 0, count);
  done(count);
  buffers(count);
  RUN(form, Scatter, scatter, give, count, MPI_INT, take, count, MPI_INT, root, comm);
  check_block(0, root, me, count);
  done(count);
}

/* Rank r's block has r % 3 of three thirds of count. */
static int part(int rank, int count) { return count * (rank % 3) / 3; }
static void lay_out(int count) {
  for (int r = 0; r < size; ++r) {
    counts[r] = (count_t)part(r, count);
    places[r] = (place_t)r * count;
  }
}

static void rooted_unequal(int count) {
  lay_out(count);
  buffers(count);
  RUN(form, Gatherv, gatherv, give, part(me, count), MPI_INT, take, counts, places, MPI_INT, root, comm);
  for (int r = 0; me == root && r < size; ++r) check_block((long)r * count, r, 0, part(r, count));
  done(count);
  buffers(count);
  RUN(form, Scatterv, scatterv, give, counts, places, MPI_INT, take, part(me, count), MPI_INT, root, comm);
  check_block(0, root, me, part(me, count));
  done(count);
}

static void among_all(int count) {
  buffers(count);
  RUN(form, Allgather, allgather, give, count, MPI_INT, take, count, MPI_INT, comm);
  for (int r = 0; r < size; ++r) check_block((long)r * count, r, 0, count);
  RUN(form, Alltoall, alltoall, give, count, MPI_INT, take, count, MPI_INT, comm);
  for (int r = 0; r < size; ++r) check_block((long)r * count, r, me, count);
  done(count);
  lay_out(count);
  buffers(count);
  RUN(form, Allgatherv, allgatherv, give, part(me, count), MPI_INT, take, counts, places, MPI_INT, comm);
  for (int r = 0; r < size; ++r) check_block((long)r * count, r, 0, part(r, count));
  done(count);
}

/* What goes from one rank to another is as long as the sum of both says. */
static void among_all_unequal(int count) {
  MPI_Datatype types[MAX_RANKS];
  place_t bytes[MAX_RANKS];
  for (int r = 0; r < size; ++r) {
    counts[r] = (count_t)part(me + r, count);
    places[r] = (place_t)r * count;
    bytes[r] = places[r] * (place_t)sizeof(int);
    types[r] = MPI_INT;
  }
  for (int words = 0; words < 2; ++words) {
    buffers(count);
    if (words)
      RUN(form, Alltoallw, alltoallw, give, counts, bytes, types, take, counts, bytes, types, comm);
    else
      RUN(form, Alltoallv, alltoallv, give, counts, places, MPI_INT, take, counts, places, MPI_INT, comm);
    for (int r = 0; r < size; ++r) check_block((long)r * count, r, me, part(me + r, count));
    done(count);
  }
}

static void check_composed(const Affine* got, int last, int first, int count) {
  for (int i = 0; i < count; ++i) CHECK_AFFINE(got[i], composed(0, last, first + i));
}

static void reductions(int count, MPI_Op op) {
  Affine* const in = malloc(sizeof *in * (size_t)(count * size + 1));
  Affine* const out = malloc(sizeof *out * (size_t)(count * size + 1));
  int before = 0;
  for (int i = 0; i < count * size; ++i) in[i] = affine_of(me, i);
  RUN(form, Reduce, reduce, in, out, count, MPI_2INT, op, root, comm);
  if (me == root) check_composed(out, size - 1, 0, count);
  RUN(form, Allreduce, allreduce, in, out, count, MPI_2INT, op, comm);
  check_composed(out, size - 1, 0, count);
  RUN(form, Reduce_scatter_block, reduce_scatter_block, in, out, count, MPI_2INT, op, comm);
  check_composed(out, size - 1, me * count, count);
  lay_out(count);
  for (int r = 0; r < me; ++r) before += part(r, count);
  RUN(form, Reduce_scatter, reduce_scatter, in, out, counts, MPI_2INT, op, comm);
  check_composed(out, size - 1, before, part(me, count));
  RUN(form, Scan, scan, in, out, count, MPI_2INT, op, comm);
  check_composed(out, me, 0, count);
  RUN(form, Exscan, exscan, in, out, count, MPI_2INT, op, comm);
  if (me > 0) check_composed(out, me - 1, 0, count);
  free(in);
  free(out);
}

static void barrier(void) {
#if MPI_VERSION >= 4
  MPI_Request request;
#endif
  if (form == BLOCKING) {
    OK(MPI_Barrier(comm));
  } else if (form == NONBLOCKING) {
    MPI_Request started;
    OK(MPI_Ibarrier(comm, &started));
    OK(MPI_Wait(&started, MPI_STATUS_IGNORE));
  } else {
#if MPI_VERSION >= 4
    OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
#endif
  }
}

int main(int argc, char** argv) {
  /* Numbers, a block that travels with others, and one that goes alone and in parts. */
  static const int lengths[] = {3, 60, 9000};
  MPI_Op op;
  MPI_Init(&argc, &argv);
  OK(MPI_Op_create(compose, 0, &op));
  const int world = world_rank(), all = world_size();
  for (int order = 0; order < 4; ++order) {
    const int keys[] = {world, -world, world % 2 * all + world, world};
    OK(MPI_Comm_split(MPI_COMM_WORLD, order == 3 && world == 0 ? MPI_UNDEFINED : 0, keys[order], &comm));
    if (comm == MPI_COMM_NULL) continue;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &size));
    for (form = BLOCKING; form < FORMS; ++form) {
      for (int l = 0; l < 3; ++l) {
        root = (form + l) % size;
        rooted(lengths[l]);
        rooted_unequal(lengths[l]);
        among_all(lengths[l]);
        among_all_unequal(lengths[l]);
        reductions(lengths[l], op);
        barrier();
      }
    }
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Op_free(&op));
  return finish();
}
