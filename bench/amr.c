/* SPDX-License-Identifier: BSD-3-Clause */
/* A proxy of codes that refine a grid of blocks where something happens: messages whose number and sizes
 * change.
 * Usage: amr [options]
 *   --roots AxBxC             blocks of the coarsest level (default 4x4x4); periodic
 *   --cells N, --variables N  of a block: N^3 cells, N even (default 8), each with N values (default 4)
 *   --steps N, --regrid N     steps of time, and after how many of them the grid changes (default 60, 5)
 *   --work N                  sweeps over the blocks in each step (default 1)
 *   --memory private|shared   message buffers from malloc, or from MPI_Alloc_mem
 *   --managed                 receive buffers are the library's, where it has them (mpix.h)
 *
 * Blocks that the surface of a moving ball cuts are refined, twice at most; neighbours differ by one level.
 * All blocks are known to everybody, in Morton order, and each rank has an equal part of that order. In
 * each step and for each axis in turn a rank sends all faces for another rank in one message, as miniAMR
 * does (Sasidharan and Snir, 2016): as they are between blocks of one level, averaged to a coarser one, a
 * quarter to a finer one. Then each block is smoothed. When the grid changes, blocks that stay and change
 * their rank move whole.
 *
 * Printed: time of all steps, and of that in messages and of regridding (slowest
 * rank); messages of rank 0 and their mean and largest size; a sum of all cells, which must not depend on
 * the MPI. Each face carries its number. */
#include "bench.h"

#include <mpi.h>

#include "amr_grid.h"
#include "receive_buffer.h"

enum { kFacesTag = 1, kBlocksTag = 2, kHead = 2 };

struct buffer {
  unsigned char* bytes;
  size_t room;
};
static struct { int cells, variables, steps, regrid, work, shared, managed; } o = {8, 4, 60, 5, 1, 0, 0};
static struct buffer *to_send, *to_receive;
static double in_messages, in_regridding, messages, bytes_sent, largest;

static void read_options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--managed") == 0) {
      o.managed = 1;
      continue;
    }
    if (strcmp(argv[i], "--roots") == 0)
      sscanf(value, "%dx%dx%d", &roots[0], &roots[1], &roots[2]);
    else if (strcmp(argv[i], "--cells") == 0)
      o.cells = atoi(value);
    else if (strcmp(argv[i], "--variables") == 0)
      o.variables = atoi(value);
    else if (strcmp(argv[i], "--steps") == 0)
      o.steps = atoi(value);
    else if (strcmp(argv[i], "--regrid") == 0)
      o.regrid = atoi(value);
    else if (strcmp(argv[i], "--work") == 0)
      o.work = atoi(value);
    else if (strcmp(argv[i], "--memory") == 0)
      o.shared = strcmp(value, "shared") == 0;
    else
      fail_with("an option is unknown");
    ++i;
  }
  for (int axis = 0; axis < kAxes; ++axis)
    if (roots[axis] < 2) fail_with("two blocks at least along each axis");
  if (o.cells < 2 || o.cells % 2 != 0 || o.variables < 1 || o.steps < 1 || o.regrid < 1 || o.work < 0)
    fail_with("cells even, the others positive");
  if (o.managed && !BENCH_MANAGED) fail_with("this MPI has no library-managed buffers");
}

/* Cells and faces. */

static size_t block_cells(void) {
  return (size_t)o.variables * (size_t)(o.cells + 2) * (size_t)(o.cells + 2) * (size_t)(o.cells + 2);
}
/* One layer across an axis: its cells lie `i` and `j` apart along the other two. */
struct layer {
  double* first;
  size_t i, j, variable;
};
static struct layer layer_of(double* cells, int axis, int at) {
  const size_t n = (size_t)o.cells + 2;
  const size_t apart[3] = {n * n, n, 1};
  struct layer layer = {cells, apart[axis == 0 ? 1 : 0], apart[axis == 2 ? 1 : 2], n * n * n};
  layer.first += (size_t)at * apart[axis] + layer.i + layer.j;
  return layer;
}
static int face_side(enum kind kind) { return kind == kSame ? o.cells : o.cells / 2; }
static size_t piece_bytes(const struct piece* p) {
  const size_t side = (size_t)face_side(p->kind);
  return (kHead + side * side * (size_t)o.variables) * sizeof(double);
}
/* The quarter of a coarser block's face that a finer one touches: how far it lies from the first cell. */
static size_t quarter_of(const struct leaf* finer, int axis, const struct layer* layer) {
  const size_t half = (size_t)o.cells / 2;
  return (size_t)(finer->at[axis == 0 ? 1 : 0] % 2) * half * layer->i +
         (size_t)(finer->at[axis == 2 ? 1 : 2] % 2) * half * layer->j;
}

static void pack(const struct grid* g, const struct piece* p, int number, int step, double* out) {
  const struct layer from = layer_of(g->leaves[p->from].cells, p->axis, p->side ? o.cells : 1);
  const size_t side = (size_t)face_side(p->kind);
  const size_t quarter = p->kind == kFiner ? quarter_of(&g->leaves[p->to], p->axis, &from) : 0;
  *out++ = number;
  *out++ = step;
  for (int v = 0; v < o.variables; ++v) {
    const double* const cells = from.first + (size_t)v * from.variable + quarter;
    for (size_t i = 0; i < side; ++i)
      for (size_t j = 0; j < side; ++j) {
        if (p->kind == kCoarser) {
          const double* const four = cells + 2 * i * from.i + 2 * j * from.j;
          *out++ = 0.25 * (four[0] + four[from.i] + four[from.j] + four[from.i + from.j]);
        } else {
          *out++ = cells[i * from.i + j * from.j];
        }
      }
  }
}

static void unpack(const struct grid* g, const struct piece* p, int number, int step, const double* in) {
  const struct layer to = layer_of(g->leaves[p->to].cells, p->axis, p->side ? 0 : o.cells + 1);
  const size_t side = (size_t)face_side(p->kind);
  const size_t quarter = p->kind == kCoarser ? quarter_of(&g->leaves[p->from], p->axis, &to) : 0;
  if (in[0] != number || in[1] != step) fail_with("another face has come");
  in += kHead;
  for (int v = 0; v < o.variables; ++v) {
    double* const cells = to.first + (size_t)v * to.variable + quarter;
    for (size_t i = 0; i < side; ++i)
      for (size_t j = 0; j < side; ++j, ++in) {
        if (p->kind == kFiner) {
          double* const four = cells + 2 * i * to.i + 2 * j * to.j;
          four[0] = four[to.i] = four[to.j] = four[to.i + to.j] = *in;
        } else {
          cells[i * to.i + j * to.j] = *in;
        }
      }
  }
}

static void smooth(const struct leaf* leaf, double* scratch) {
  const int n = o.cells + 2;
  const size_t plane = (size_t)n * (size_t)n, row = (size_t)n;
  for (int v = 0; v < o.variables; ++v) {
    double* const u = leaf->cells + (size_t)v * plane * row;
    for (int x = 1; x <= o.cells; ++x)
      for (int y = 1; y <= o.cells; ++y)
        for (int z = 1; z <= o.cells; ++z) {
          const size_t at = (size_t)x * plane + (size_t)y * row + (size_t)z;
          scratch[at] =
              (u[at] + u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane]) / 7;
        }
    for (int x = 1; x <= o.cells; ++x)
      for (int y = 1; y <= o.cells; ++y) {
        const size_t at = (size_t)x * plane + (size_t)y * row + 1;
        memcpy(u + at, scratch + at, (size_t)o.cells * sizeof *u);
      }
  }
}

/* Messages. */

static void make_room(struct buffer* buffer, size_t bytes) {
  if (bytes <= buffer->room) return;
  if (o.shared && buffer->bytes != NULL) MPI_Free_mem(buffer->bytes);
  if (!o.shared) free(buffer->bytes);
  buffer->room = bytes + bytes / 2; /* a little more than now, as codes do */
  if (!o.shared) {
    buffer->bytes = bench_buffer(buffer->room);
  } else {
    if (MPI_Alloc_mem((MPI_Aint)buffer->room, MPI_INFO_NULL, &buffer->bytes) != MPI_SUCCESS)
      fail_with("no memory");
    memset(buffer->bytes, 1, buffer->room);
  }
}

/* Bytes of the message that a list of pieces makes. */
static size_t bytes_of(const struct grid* g, int list) {
  size_t bytes = 0;
  for (int n = g->begins[list]; n < g->begins[list + 1]; ++n) bytes += piece_bytes(&g->pieces[g->order[n]]);
  return bytes;
}

static void send_faces(const struct grid* g, int axis, int step, MPI_Request* requests) {
  for (int to = 0; to < ranks; ++to) {
    const int list = list_of(axis, kSend, to);
    const size_t bytes = bytes_of(g, list);
    requests[to] = MPI_REQUEST_NULL;
    if (bytes == 0) continue;
    make_room(&to_send[to], bytes);
    unsigned char* at = to_send[to].bytes;
    for (int n = g->begins[list]; n < g->begins[list + 1]; ++n) {
      const struct piece* const p = &g->pieces[g->order[n]];
      pack(g, p, g->order[n], step, (double*)at);
      at += piece_bytes(p);
    }
    MPI_Isend(to_send[to].bytes, (int)bytes, MPI_BYTE, to, kFacesTag, MPI_COMM_WORLD, &requests[to]);
    messages += 1;
    bytes_sent += (double)bytes;
    if ((double)bytes > largest) largest = (double)bytes;
  }
}

static void receive_faces(const struct grid* g, int axis, MPI_Request* requests) {
  for (int from = 0; from < ranks; ++from) {
    const size_t bytes = bytes_of(g, list_of(axis, kReceive, from));
    requests[from] = MPI_REQUEST_NULL;
    if (bytes == 0) continue;
    if (!o.managed) make_room(&to_receive[from], bytes);
    bench_receive(to_receive[from].bytes, (int)bytes, from, o.managed, &requests[from]);
  }
}

static void take_faces(const struct grid* g, int list, int step, const unsigned char* in) {
  for (int n = g->begins[list]; n < g->begins[list + 1]; ++n) {
    const struct piece* const p = &g->pieces[g->order[n]];
    unpack(g, p, g->order[n], step, (const double*)in);
    in += piece_bytes(p);
  }
}

static void exchange_faces(const struct grid* g, int axis, int step, MPI_Request* requests, double* scratch) {
  const int local = list_of(axis, kLocal, me);
  receive_faces(g, axis, requests);
  send_faces(g, axis, step, requests + ranks);
  for (int n = g->begins[local]; n < g->begins[local + 1]; ++n) {
    const struct piece* const p = &g->pieces[g->order[n]];
    pack(g, p, g->order[n], step, scratch);
    unpack(g, p, g->order[n], step, scratch);
  }
  for (;;) {
    MPI_Status status;
    int from;
    MPI_Waitany(ranks, requests, &from, &status);
    if (from == MPI_UNDEFINED) break;
    take_faces(g, list_of(axis, kReceive, from), step,
               bench_received(to_receive[from].bytes, &status, o.managed));
    bench_give_back(&status, o.managed);
  }
  MPI_Waitall(ranks, requests + ranks, MPI_STATUSES_IGNORE);
}

/* What a block that was not there before begins with. */
static void fill_block(const struct leaf* leaf) {
  const size_t count = block_cells();
  for (size_t i = 0; i < count; ++i)
    leaf->cells[i] = (double)((leaf->morton * 31 + (unsigned long)leaf->level * 7 + i) % 97);
}

/* Blocks that stay keep their cells, wherever they are now. */
static void regrid(struct grid* g, double time) {
  struct grid next = make_grid(time);
  MPI_Request* const requests = allocate(2 * (size_t)(g->count + next.count) * sizeof *requests);
  const int bytes = (int)(block_cells() * sizeof(double));
  int count = 0;
  for (int i = 0; i < next.count; ++i) {
    struct leaf* const leaf = &next.leaves[i];
    const int before =
        g->index[leaf->level] == NULL ? -1 : g->index[leaf->level][place(leaf->level, leaf->at)];
    const int owner = before < 0 ? leaf->owner : g->leaves[before].owner;
    if (leaf->owner == me && owner == me && before >= 0) {
      leaf->cells = g->leaves[before].cells;
      g->leaves[before].cells = NULL;
    } else if (leaf->owner == me) {
      leaf->cells = allocate((size_t)bytes);
      if (before < 0)
        fill_block(leaf);
      else
        MPI_Irecv(leaf->cells, bytes, MPI_BYTE, owner, kBlocksTag, MPI_COMM_WORLD, &requests[count++]);
    } else if (owner == me && before >= 0) {
      MPI_Isend(g->leaves[before].cells, bytes, MPI_BYTE, leaf->owner, kBlocksTag, MPI_COMM_WORLD,
                &requests[count++]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free_grid(g);
  *g = next;
}

static double sum_of(const struct grid* g) {
  double own = 0, all = 0;
  for (int i = 0; i < g->count; ++i)
    for (int v = 0; g->leaves[i].owner == me && v < o.variables; ++v)
      for (int x = 1; x <= o.cells; ++x) {
        const struct layer layer = layer_of(g->leaves[i].cells, 0, x);
        for (int at = 0; at < o.cells * o.cells; ++at)
          own += layer.first[(size_t)v * layer.variable + (size_t)(at / o.cells) * layer.i +
                             (size_t)(at % o.cells)];
      }
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

static void run(struct grid* g) {
  MPI_Request* const requests = allocate(2 * (size_t)ranks * sizeof *requests);
  double* const scratch = allocate(block_cells() * sizeof *scratch + kHead * sizeof *scratch);
  for (int step = 0; step < o.steps; ++step) {
    const double start = bench_seconds();
    if (step % o.regrid == 0) regrid(g, (double)step / o.steps);
    const double grid_there = bench_seconds();
    in_regridding += grid_there - start;
    for (int axis = 0; axis < kAxes; ++axis) exchange_faces(g, axis, step, requests, scratch);
    in_messages += bench_seconds() - grid_there;
    for (int sweep = 0; sweep < o.work; ++sweep)
      for (int i = 0; i < g->count; ++i)
        if (g->leaves[i].owner == me) smooth(&g->leaves[i], scratch);
  }
  free(scratch);
  free(requests);
}

int main(int argc, char** argv) {
  struct grid g = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_options(argc, argv);
  bench_pin(me);
  to_send = allocate((size_t)ranks * sizeof *to_send);
  to_receive = allocate((size_t)ranks * sizeof *to_receive);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  run(&g);
  double own[3] = {bench_seconds() - start, in_messages, in_regridding}, most[3];
  MPI_Reduce(own, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const double sum = sum_of(&g);
  if (me == 0) {
    bench_print("amr", 0, most[0] * 1e3, "ms");
    bench_print("amr-faces", 0, most[1] * 1e3, "ms");
    bench_print("amr-regrid", 0, most[2] * 1e3, "ms");
    bench_print("amr-messages", 0, messages, "messages");
    bench_print("amr-mean", 0, messages > 0 ? bytes_sent / messages / 1024 : 0, "KiB");
    bench_print("amr-largest", 0, largest / 1024, "KiB");
    bench_print("amr-sum", 0, sum, "(cells)");
  }
  free_grid(&g);
  MPI_Finalize();
  return 0;
}
