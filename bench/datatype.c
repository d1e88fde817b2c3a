/* SPDX-License-Identifier: BSD-3-Clause */
/* What layouts cost: packing, unpacking and a ping-pong of vectors, lists, faces of a cube and records, all
 * over memcpy of as many bytes. A ratio of 1 is as fast as contiguous bytes; it is also what can be compared
 * between runs of a machine that changes its speed. Medians over batches. Usage: datatype [side of the cube]
 */
#include "bench.h"

#include <mpi.h>
#include <stddef.h>

enum { kBatches = 9, kItems = 4096 };

struct record {
  char kind;
  double place[3];
  int neighbours[2];
};

typedef struct {
  const char* name;
  MPI_Datatype type;
  int count;
} Layout;

static unsigned char *data, *packed, *other;

/* Every third block of two doubles. */
static MPI_Datatype make_vector(void) {
  MPI_Datatype type;
  MPI_Type_vector(kItems, 2, 6, MPI_DOUBLE, &type);
  return type;
}

/* Blocks of 1 to 4 doubles at rising, irregular places. */
static MPI_Datatype make_indexed(void) {
  static int lengths[kItems], places[kItems];
  MPI_Datatype type;
  int at = 0;
  for (int i = 0; i < kItems; ++i) {
    lengths[i] = 1 + i * 7 % 4;
    places[i] = at;
    at += lengths[i] + 1 + i * 5 % 3;
  }
  MPI_Type_indexed(kItems, lengths, places, MPI_DOUBLE, &type);
  return type;
}

/* One layer of a cube in C order, across dimension 0 (contiguous), 1 or 2 (single doubles). */
static MPI_Datatype make_face(int side, int across) {
  int sizes[3] = {side, side, side}, parts[3] = {side, side, side}, starts[3] = {0, 0, 0};
  MPI_Datatype type;
  parts[across] = 1;
  starts[across] = 1;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

static MPI_Datatype make_record(void) {
  int lengths[3] = {1, 3, 2};
  MPI_Aint places[3] = {offsetof(struct record, kind), offsetof(struct record, place),
                        offsetof(struct record, neighbours)};
  MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, type, resized;
  MPI_Type_create_struct(3, lengths, places, parts, &type);
  MPI_Type_create_resized(type, 0, (MPI_Aint)sizeof(struct record), &resized);
  MPI_Type_free(&type);
  return resized;
}

static void copy_once(const Layout* layout, int bytes) {
  (void)layout;
  memcpy(other, packed, (size_t)bytes);
  __asm__ volatile("" : : "r"(other) : "memory");
}

static void pack_once(const Layout* layout, int bytes) {
  int position = 0;
  MPI_Pack(data, layout->count, layout->type, packed, bytes, &position, MPI_COMM_SELF);
}

static void unpack_once(const Layout* layout, int bytes) {
  int position = 0;
  MPI_Unpack(packed, bytes, &position, data, layout->count, layout->type, MPI_COMM_SELF);
}

/* Ranks 0 and 1; the layout on both sides. */
static void ping_pong(const Layout* layout, int bytes) {
  int me;
  (void)bytes;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    MPI_Send(data, layout->count, layout->type, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(data, layout->count, layout->type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, layout->count, layout->type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data, layout->count, layout->type, 0, 1, MPI_COMM_WORLD);
  }
}

/* Seconds per call. Both ranks of a ping-pong make the same number of calls. */
static double median_seconds(void (*call)(const Layout*, int), const Layout* layout, int bytes) {
  const int calls = 1 + (4 << 20) / (bytes + 1024);
  double batches[kBatches];
  for (int i = 0; i < calls; ++i) call(layout, bytes);
  for (int b = 0; b < kBatches; ++b) {
    const double start = bench_seconds();
    for (int i = 0; i < calls; ++i) call(layout, bytes);
    batches[b] = (bench_seconds() - start) / calls;
  }
  return bench_median(batches, kBatches);
}

static void print_ratio(const char* what, const char* layout, int bytes, double ratio) {
  char figure[64];
  snprintf(figure, sizeof figure, "%s/%s", what, layout);
  bench_print(figure, bytes, ratio, "memcpys");
}

static void measure(const Layout* layout, int me, int ranks) {
  int bytes;
  MPI_Type_size(layout->type, &bytes);
  bytes *= layout->count;
  if (me == 0) {
    const double copy = median_seconds(copy_once, layout, bytes);
    print_ratio("pack", layout->name, bytes, median_seconds(pack_once, layout, bytes) / copy);
    print_ratio("unpack", layout->name, bytes, median_seconds(unpack_once, layout, bytes) / copy);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks < 2) return;
  {
    /* Contiguous bytes through the same library are what a send of a layout can reach at best. */
    const Layout plain = {"bytes", MPI_BYTE, bytes};
    const double flat = median_seconds(ping_pong, &plain, bytes);
    const double with_type = median_seconds(ping_pong, layout, bytes);
    const double copy = median_seconds(copy_once, layout, bytes);
    if (me == 0) {
      print_ratio("send", layout->name, bytes, with_type / 2 / copy);
      print_ratio("send-bytes", layout->name, bytes, flat / 2 / copy);
    }
  }
}

int main(int argc, char** argv) {
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? atoi(argv[1]) : 96;
  if (ranks > 2 || side < 2 || side > 512) {
    fprintf(stderr, "datatype: one or two ranks, and a side from 2 to 512\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bench_pin(me);
  const size_t cube = (size_t)side * (size_t)side * (size_t)side * sizeof(double);
  const size_t room = cube > (size_t)1 << 20 ? cube : (size_t)1 << 20;
  data = bench_buffer(room);
  packed = bench_buffer(room);
  other = bench_buffer(room);
  Layout layouts[] = {
      {"vector", make_vector(), 1},      {"indexed", make_indexed(), 1},    {"face-x", make_face(side, 0), 1},
      {"face-y", make_face(side, 1), 1}, {"face-z", make_face(side, 2), 1}, {"record", make_record(), kItems},
  };
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; ++i) {
    MPI_Type_commit(&layouts[i].type);
    measure(&layouts[i], me, ranks);
    MPI_Type_free(&layouts[i].type);
  }
  free(data);
  free(packed);
  free(other);
  MPI_Finalize();
  return 0;
}
