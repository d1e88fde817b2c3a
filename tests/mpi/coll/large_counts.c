/* SPDX-License-Identifier: BSD-3-Clause */
/* The forms of all collectives with counts of type MPI_Count, and arrays of them
 * (MPI 5.0, chapter 6, 19.2). needs: mpi-4 */
#include "coll.h"

#if MPI_VERSION >= 4
#define RUN_LARGE(form, name, iname, ...)                         \
  do {                                                            \
    MPI_Request run_;                                             \
    if ((form) == BLOCKING) {                                     \
      OK(MPI_##name##_c(__VA_ARGS__));                            \
    } else if ((form) == NONBLOCKING) {                           \
      OK(MPI_I##iname##_c(__VA_ARGS__, &run_));                   \
      OK(MPI_Wait(&run_, MPI_STATUS_IGNORE));                     \
    } else {                                                      \
      OK(MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &run_)); \
      OK(MPI_Start(&run_));                                       \
      OK(MPI_Wait(&run_, MPI_STATUS_IGNORE));                     \
      OK(MPI_Request_free(&run_));                                \
    }                                                             \
  } while (0)

enum { EACH = 5, MOST = 64 };

static int me, size;

static void rooted(int form) {
  const int root = size - 1, here = me == root;
  int mine[EACH], all[MOST * EACH], sum[EACH];
  MPI_Count counts[MOST];
  MPI_Aint at[MOST];
  for (int r = 0; r < size; ++r) {
    counts[r] = 1 + r % EACH;
    at[r] = (size - 1 - r) * EACH; /* backwards, with gaps */
  }
  for (int i = 0; i < EACH; ++i) mine[i] = here ? value_of(root, i) : -1;
  RUN_LARGE(form, Bcast, bcast, mine, EACH, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(mine[i], value_of(root, i));
  for (int i = 0; i < EACH; ++i) mine[i] = value_of(me, i);
  RUN_LARGE(form, Gather, gather, mine, EACH, MPI_INT, all, EACH, MPI_INT, root, MPI_COMM_WORLD);
  for (int k = 0; here && k < size * EACH; ++k) CHECK_EQ(all[k], value_of(k / EACH, k % EACH));
  RUN_LARGE(form, Gatherv, gatherv, mine, counts[me], MPI_INT, all, counts, at, MPI_INT, root,
            MPI_COMM_WORLD);
  for (int r = 0; here && r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) CHECK_EQ(all[at[r] + i], value_of(r, i));
  for (int k = 0; here && k < size * EACH; ++k) all[k] = value_of(7, k);
  RUN_LARGE(form, Scatter, scatter, all, EACH, MPI_INT, mine, EACH, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(mine[i], value_of(7, me * EACH + i));
  RUN_LARGE(form, Scatterv, scatterv, all, counts, at, MPI_INT, mine, counts[me], MPI_INT, root,
            MPI_COMM_WORLD);
  for (int i = 0; i < counts[me]; ++i) CHECK_EQ(mine[i], value_of(7, (int)at[me] + i));
  for (int i = 0; i < EACH; ++i) mine[i] = me + i;
  RUN_LARGE(form, Reduce, reduce, mine, sum, EACH, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  for (int i = 0; here && i < EACH; ++i) CHECK_EQ(sum[i], size * (size - 1) / 2 + size * i);
}

static void to_all(int form) {
  int out[MOST * EACH], in[MOST * EACH];
  MPI_Count counts[MOST];
  MPI_Aint at[MOST], bytes[MOST];
  MPI_Datatype types[MOST];
  for (int r = 0; r < size; ++r) {
    counts[r] = EACH;
    at[r] = r * EACH;
    bytes[r] = r * EACH * (MPI_Aint)sizeof(int);
    types[r] = MPI_INT;
  }
  for (int i = 0; i < EACH; ++i) out[i] = value_of(me, i);
  RUN_LARGE(form, Allgather, allgather, out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
  for (int k = 0; k < size * EACH; ++k) CHECK_EQ(in[k], value_of(k / EACH, k % EACH));
  memset(in, 0, sizeof in);
  RUN_LARGE(form, Allgatherv, allgatherv, out, EACH, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int k = 0; k < size * EACH; ++k) CHECK_EQ(in[k], value_of(k / EACH, k % EACH));
  for (int k = 0; k < size * EACH; ++k) out[k] = value_of(me, k);
  for (int w = 0; w < 3; ++w) {
    memset(in, 0, sizeof in);
    if (w == 0) RUN_LARGE(form, Alltoall, alltoall, out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
    if (w == 1)
      RUN_LARGE(form, Alltoallv, alltoallv, out, counts, at, MPI_INT, in, counts, at, MPI_INT,
                MPI_COMM_WORLD);
    if (w == 2)
      RUN_LARGE(form, Alltoallw, alltoallw, out, counts, bytes, types, in, counts, bytes, types,
                MPI_COMM_WORLD);
    for (int k = 0; k < size * EACH; ++k) CHECK_EQ(in[k], value_of(k / EACH, me * EACH + k % EACH));
  }
}

static void reductions(int form) {
  int out[MOST * EACH], in[MOST * EACH];
  MPI_Count counts[MOST];
  for (int r = 0; r < size; ++r) counts[r] = EACH;
  for (int k = 0; k < size * EACH; ++k) out[k] = me + k;
  RUN_LARGE(form, Allreduce, allreduce, out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(in[i], size * (size - 1) / 2 + size * i);
  RUN_LARGE(form, Scan, scan, out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(in[i], me * (me + 1) / 2 + (me + 1) * i);
  RUN_LARGE(form, Exscan, exscan, out, in, EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; me > 0 && i < EACH; ++i) CHECK_EQ(in[i], me * (me - 1) / 2 + me * i);
  RUN_LARGE(form, Reduce_scatter, reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(in[i], size * (size - 1) / 2 + size * (me * EACH + i));
  memset(in, 0, sizeof in);
  RUN_LARGE(form, Reduce_scatter_block, reduce_scatter_block, out, in, EACH, MPI_INT, MPI_SUM,
            MPI_COMM_WORLD);
  for (int i = 0; i < EACH; ++i) CHECK_EQ(in[i], size * (size - 1) / 2 + size * (me * EACH + i));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = world_rank();
  size = world_size();
  for (int form = 0; form < FORMS; ++form) {
    rooted(form);
    to_all(form);
    reductions(form);
  }
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
