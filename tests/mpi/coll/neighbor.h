/* SPDX-License-Identifier: BSD-3-Clause */
/* The five neighbourhood collectives in all their forms on one communicator. The program says who its
 * neighbours are; what has to arrive follows from that. */
#ifndef STARLING_TESTS_MPI_NEIGHBOR_H
#define STARLING_TESTS_MPI_NEIGHBOR_H

#include "coll.h"

enum { MOST_NEIGHBORS = 32 };

typedef struct {
  MPI_Comm comm;
  int in, out;
  int sources[MOST_NEIGHBORS], destinations[MOST_NEIGHBORS];
  int sent_as[MOST_NEIGHBORS]; /* what arrives from sources[j] is its block sent_as[j] */
} Hood;

/* The forms of coll.h, then the same with large counts. */
#if MPI_VERSION >= 4
#define NEIGHBOR_FORMS 6
#define RUN_WIDE(form, name, iname, ...)                         \
  do {                                                           \
    MPI_Request wide_;                                           \
    if ((form) == BLOCKING) {                                    \
      OK(MPI_##name##_c(__VA_ARGS__));                           \
      break;                                                     \
    }                                                            \
    if ((form) == NONBLOCKING) {                                 \
      OK(MPI_I##iname##_c(__VA_ARGS__, &wide_));                 \
      OK(MPI_Wait(&wide_, MPI_STATUS_IGNORE));                   \
      break;                                                     \
    }                                                            \
    OK(MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &wide_)); \
    OK(MPI_Start(&wide_));                                       \
    OK(MPI_Wait(&wide_, MPI_STATUS_IGNORE));                     \
    OK(MPI_Request_free(&wide_));                                \
  } while (0)
typedef MPI_Count Wide;
#else
#define NEIGHBOR_FORMS 2
#define RUN_WIDE(form, name, iname, ...) check_fail(__FILE__, __LINE__, "no large counts")
typedef long long Wide;
#endif

#define ARGUMENTS(...) __VA_ARGS__
/* `small` and `wide` are the parenthesised arguments for the two sorts of counts. */
#define RUN_BOTH(form, name, iname, small, wide)       \
  do {                                                 \
    if ((form) < 3)                                    \
      RUN(form, name, iname, ARGUMENTS small);         \
    else                                               \
      RUN_WIDE((form)-3, name, iname, ARGUMENTS wide); \
  } while (0)

/* Where each block lies and how long it is: the last one first, with a gap of one int behind each. */
typedef struct {
  int counts[MOST_NEIGHBORS], places[MOST_NEIGHBORS], total;
  Wide wide_counts[MOST_NEIGHBORS];
  MPI_Aint wide_places[MOST_NEIGHBORS], bytes[MOST_NEIGHBORS];
} Layout;

/* Elements that travel between two processes where the amount may differ. */
static int amount(int count, int from, int to) { return count + (from == to ? 1 : (from + to) % 3); }

static void lay_out(Layout* layout, int blocks, const int* peers, int count, int stride) {
  const int me = world_rank();
  layout->total = 0;
  for (int k = blocks - 1; k >= 0; --k) {
    layout->counts[k] = amount(count, me, peers[k] == MPI_PROC_NULL ? me : peers[k]);
    layout->places[k] = layout->total;
    layout->wide_counts[k] = layout->counts[k];
    layout->wide_places[k] = layout->total;
    layout->bytes[k] = (MPI_Aint)sizeof(int) * layout->total;
    layout->total += layout->counts[k] * stride + 1;
  }
}

/* What `rank` sends in its block `block` at `index`. */
static int sent(int rank, int block, int index) { return value_of(rank * MOST_NEIGHBORS + block, index); }

static void CHECK_UNUSED allgather(const Hood* hood, int form, int count, MPI_Datatype spread) {
  int* const mine = ints(count);
  int* const all = ints(2L * count * hood->in);
  for (int i = 0; i < count; ++i) mine[i] = value_of(world_rank(), i);
  RUN_BOTH(form, Neighbor_allgather, neighbor_allgather,
           (mine, count, MPI_INT, all, count, spread, hood->comm),
           (mine, count, MPI_INT, all, count, spread, hood->comm));
  for (int j = 0; j < hood->in; ++j)
    for (int i = 0; i < count; ++i) {
      const int from = hood->sources[j], *const pair = all + 2L * (j * (long)count + i);
      CHECK_EQ(pair[0], -77);
      CHECK_EQ(pair[1], from == MPI_PROC_NULL ? -77 : value_of(from, i));
    }
  UNTOUCHED(all, 2L * count * hood->in);
  free(mine);
  free(all);
}

static void CHECK_UNUSED allgatherv(const Hood* hood, int form, int count) {
  const int me = world_rank(), length = count + me % 3;
  Layout layout;
  lay_out(&layout, hood->in, hood->sources, count, 1);
  for (int j = 0, at = 0; j < hood->in; ++j) { /* what the source has to give, not what the pair agrees on */
    layout.counts[j] = count + (hood->sources[j] == MPI_PROC_NULL ? 0 : hood->sources[j] % 3);
    layout.places[j] = at;
    layout.wide_counts[j] = layout.counts[j];
    layout.wide_places[j] = at;
    at += layout.counts[j] + 1;
    layout.total = at;
  }
  int* const mine = ints(length);
  int* const all = ints(layout.total);
  for (int i = 0; i < length; ++i) mine[i] = value_of(me, i);
  RUN_BOTH(form, Neighbor_allgatherv, neighbor_allgatherv,
           (mine, length, MPI_INT, all, layout.counts, layout.places, MPI_INT, hood->comm),
           (mine, length, MPI_INT, all, layout.wide_counts, layout.wide_places, MPI_INT, hood->comm));
  for (int j = 0; j < hood->in; ++j) {
    const int from = hood->sources[j];
    for (int i = 0; i < layout.counts[j]; ++i)
      CHECK_EQ(all[layout.places[j] + i], from == MPI_PROC_NULL ? -77 : value_of(from, i));
    UNTOUCHED(all, layout.places[j] + layout.counts[j]);
  }
  free(mine);
  free(all);
}

static void CHECK_UNUSED alltoall(const Hood* hood, int form, int count, MPI_Datatype spread) {
  const int me = world_rank();
  int* const out = ints((long)count * hood->out);
  int* const in = ints(2L * count * hood->in);
  for (int k = 0; k < hood->out; ++k)
    for (int i = 0; i < count; ++i) out[k * (long)count + i] = sent(me, k, i);
  RUN_BOTH(form, Neighbor_alltoall, neighbor_alltoall, (out, count, MPI_INT, in, count, spread, hood->comm),
           (out, count, MPI_INT, in, count, spread, hood->comm));
  for (int j = 0; j < hood->in; ++j)
    for (int i = 0; i < count; ++i) {
      const int from = hood->sources[j], *const pair = in + 2L * (j * (long)count + i);
      CHECK_EQ(pair[0], -77);
      CHECK_EQ(pair[1], from == MPI_PROC_NULL ? -77 : sent(from, hood->sent_as[j], i));
    }
  UNTOUCHED(in, 2L * count * hood->in);
  free(out);
  free(in);
}

static void CHECK_UNUSED check_blocks(const Hood* hood, const int* in, const Layout* layout,
                                      const int* strides) {
  for (int j = 0; j < hood->in; ++j) {
    const int from = hood->sources[j], first = strides[j] - 1;
    for (int i = 0; i < layout->counts[j]; ++i)
      CHECK_EQ(in[layout->places[j] + i * strides[j] + first],
               from == MPI_PROC_NULL ? -77 : sent(from, hood->sent_as[j], i));
    UNTOUCHED(in, layout->places[j] + layout->counts[j] * strides[j]);
  }
}

static void CHECK_UNUSED alltoallv(const Hood* hood, int form, int count) {
  const int me = world_rank();
  Layout from, to;
  int ones[MOST_NEIGHBORS];
  for (int j = 0; j < MOST_NEIGHBORS; ++j) ones[j] = 1;
  lay_out(&from, hood->out, hood->destinations, count, 1);
  lay_out(&to, hood->in, hood->sources, count, 1);
  int* const out = ints(from.total);
  int* const in = ints(to.total);
  for (int k = 0; k < hood->out; ++k)
    for (int i = 0; i < from.counts[k]; ++i) out[from.places[k] + i] = sent(me, k, i);
  RUN_BOTH(form, Neighbor_alltoallv, neighbor_alltoallv,
           (out, from.counts, from.places, MPI_INT, in, to.counts, to.places, MPI_INT, hood->comm),
           (out, from.wide_counts, from.wide_places, MPI_INT, in, to.wide_counts, to.wide_places, MPI_INT,
            hood->comm));
  check_blocks(hood, in, &to, ones);
  free(out);
  free(in);
}

/* Every second block to send, and every third to receive, has holes. */
static void CHECK_UNUSED alltoallw(const Hood* hood, int form, int count, MPI_Datatype spread) {
  const int me = world_rank();
  MPI_Datatype send_types[MOST_NEIGHBORS], receive_types[MOST_NEIGHBORS];
  Layout from, to;
  int strides[MOST_NEIGHBORS];
  lay_out(&from, hood->out, hood->destinations, count, 2);
  lay_out(&to, hood->in, hood->sources, count, 2);
  int* const out = ints(from.total);
  int* const in = ints(to.total);
  for (int k = 0; k < hood->out; ++k) {
    const int stride = k % 2 + 1;
    send_types[k] = k % 2 ? spread : MPI_INT;
    for (int i = 0; i < from.counts[k]; ++i) out[from.places[k] + i * stride + stride - 1] = sent(me, k, i);
  }
  for (int j = 0; j < hood->in; ++j) {
    strides[j] = j % 3 == 0 ? 2 : 1;
    receive_types[j] = j % 3 == 0 ? spread : MPI_INT;
  }
  RUN_BOTH(form, Neighbor_alltoallw, neighbor_alltoallw,
           (out, from.counts, from.bytes, send_types, in, to.counts, to.bytes, receive_types, hood->comm),
           (out, from.wide_counts, from.bytes, send_types, in, to.wide_counts, to.bytes, receive_types,
            hood->comm));
  check_blocks(hood, in, &to, strides);
  free(out);
  free(in);
}

/* All of them, with blocks from nothing to beyond the eager limit. */
static void CHECK_UNUSED exchange_all(const Hood* hood, MPI_Datatype spread, int big) {
  static const int counts[] = {0, 1, 700, 20001};
  for (int form = 0; form < NEIGHBOR_FORMS; ++form)
    for (int c = 0; c < (big ? 4 : 3); ++c) {
      allgather(hood, form, counts[c], spread);
      allgatherv(hood, form, counts[c]);
      alltoall(hood, form, counts[c], spread);
      alltoallv(hood, form, counts[c]);
      alltoallw(hood, form, counts[c], spread);
    }
}

#endif
