/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlap of messages between and within nodes: the halo exchange of a 7-point stencil.
 * Usage: halo [options]
 *   --nodes AxBxC, --node AxBxC  nodes, and ranks of a node, along each axis (default: ranks in one row,
 * halved)
 *   --inter BYTES, --intra BYTES size of a face that goes to another node, and to the own one
 *   --order axis|inter|intra     which faces are sent first (default: as the axes come)
 *   --memory private|shared      buffers from malloc, or from MPI_Alloc_mem
 *   --managed                    receive buffers are the library's, where it has them (mpix.h)
 *   --persistent                 persistent requests
 *   --skew US                    each rank comes late by up to US microseconds, differently each time
 *   --compute US                 between posting and waiting
 *   --iterations N
 *
 * Not periodic, up to six neighbours; ranks of a node are consecutive. An iteration: buffers are written,
 * barrier,
 * Irecv of all, Isend of all, Waitall; its time is the slowest rank's. Three selections take turns in each
 * iteration: all faces, those to other nodes, those within the node. T is the median over the iterations
 * behind ten
 * that do not count; E = 100 max(T_inter, T_intra) / T_all; O = 100 (T_inter + T_intra - T_all) / min,
 * where min is at least 10 % of max. What arrives is checked. `cpu`: processor time of all ranks for all
 * faces, over the number of processors: where ranks sleep while they wait, no exchange can be shorter. */
#include "bench.h"

#include <mpi.h>

#include <time.h>
#include <unistd.h>

#include "receive_buffer.h"

enum { kWarm = 10, kFaces = 6, kSelections = 3 };
enum { kAll, kInter, kIntra };
static const char* const kNames[kSelections] = {"all", "inter", "intra"};

struct face {
  int peer;
  int far; /* on another node */
  size_t bytes;
  unsigned char *out, *in;
};
struct options {
  int nodes[3], node[3], iterations, managed, persistent, shared;
  long inter, intra;
  double skew_us, compute_us;
  const char* order;
};

static void fail_with(const char* text) {
  fprintf(stderr, "halo: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_grid(const char* text, int* grid) {
  if (sscanf(text, "%dx%dx%d", &grid[0], &grid[1], &grid[2]) != 3) fail_with("a grid is AxBxC, as 2x1x1");
}

static struct options read_options(int argc, char** argv, int ranks) {
  struct options o = {{2, 1, 1}, {0, 1, 1}, 60, 0, 0, 0, 131072, 2097152, 0, 0, "axis"};
  o.node[0] = ranks / 2;
  for (int i = 1; i < argc; ++i) {
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--managed") == 0) {
      o.managed = 1;
    } else if (strcmp(argv[i], "--persistent") == 0) {
      o.persistent = 1;
    } else {
      if (strcmp(argv[i], "--nodes") == 0)
        read_grid(value, o.nodes);
      else if (strcmp(argv[i], "--node") == 0)
        read_grid(value, o.node);
      else if (strcmp(argv[i], "--inter") == 0)
        o.inter = atol(value);
      else if (strcmp(argv[i], "--intra") == 0)
        o.intra = atol(value);
      else if (strcmp(argv[i], "--order") == 0)
        o.order = value;
      else if (strcmp(argv[i], "--memory") == 0)
        o.shared = strcmp(value, "shared") == 0;
      else if (strcmp(argv[i], "--skew") == 0)
        o.skew_us = atof(value);
      else if (strcmp(argv[i], "--compute") == 0)
        o.compute_us = atof(value);
      else if (strcmp(argv[i], "--iterations") == 0)
        o.iterations = atoi(value);
      else
        fail_with("an option is unknown");
      ++i;
    }
  }
  const int cells = o.nodes[0] * o.nodes[1] * o.nodes[2] * o.node[0] * o.node[1] * o.node[2];
  if (cells != ranks) fail_with("the grids do not have as many cells as there are ranks");
  if (o.iterations < 1 || o.inter < 16 || o.intra < 16)
    fail_with("iterations from 1, faces from 16 bytes on");
  if (o.managed && !BENCH_MANAGED) fail_with("this MPI has no library-managed buffers");
  return o;
}

/* Rank of a cell of the whole grid; -1 outside. */
static int rank_at(const struct options* o, const int* cell) {
  int node = 0, local = 0, size = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (cell[axis] < 0 || cell[axis] >= o->nodes[axis] * o->node[axis]) return -1;
    node = node * o->nodes[axis] + cell[axis] / o->node[axis];
    local = local * o->node[axis] + cell[axis] % o->node[axis];
    size *= o->node[axis];
  }
  return node * size + local;
}

static unsigned char* face_memory(const struct options* o, size_t bytes) {
  unsigned char* memory = NULL;
  if (!o->shared) return bench_buffer(bytes);
  if (MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory) != MPI_SUCCESS)
    fail_with("no memory for a face");
  memset(memory, 1, bytes);
  return memory;
}

/* The neighbours of this rank, in the order in which they are sent to. */
static int find_faces(const struct options* o, int me, struct face* faces) {
  int count = 0, cell[3] = {0, 0, 0}, found = 0;
  const int most[3] = {o->nodes[0] * o->node[0], o->nodes[1] * o->node[1], o->nodes[2] * o->node[2]};
  const int per_node = o->node[0] * o->node[1] * o->node[2];
  for (cell[0] = 0; cell[0] < most[0] && !found; cell[0] += !found)
    for (cell[1] = 0; cell[1] < most[1] && !found; cell[1] += !found)
      for (cell[2] = 0; cell[2] < most[2] && !found; cell[2] += !found) found = rank_at(o, cell) == me;
  for (int pass = 0; pass < 2; ++pass)
    for (int axis = 0; axis < 3; ++axis)
      for (int step = -1; step <= 1; step += 2) {
        int there[3] = {cell[0], cell[1], cell[2]};
        there[axis] += step;
        const int peer = rank_at(o, there);
        if (peer < 0) continue;
        const int far = peer / per_node != me / per_node;
        const int first = strcmp(o->order, "inter") == 0 ? far : strcmp(o->order, "intra") == 0 ? !far : 1;
        if (first != (pass == 0)) continue;
        struct face* const face = &faces[count++];
        face->peer = peer;
        face->far = far;
        face->bytes = (size_t)(far ? o->inter : o->intra) / 8 * 8;
        face->out = face_memory(o, face->bytes);
        face->in = face_memory(o, face->bytes);
      }
  return count;
}

static unsigned long word_of(int from, int to, int iteration, size_t at) {
  return (unsigned long)from * 1000003ul + (unsigned long)to * 10007ul + (unsigned long)iteration * 101ul +
         at;
}

static void write_face(struct face* face, int me, int iteration) {
  unsigned long* const words = (unsigned long*)face->out;
  for (size_t at = 0; at < face->bytes / 8; ++at) words[at] = word_of(me, face->peer, iteration, at);
}

static void check_face(const struct face* face, const void* in, int me, int iteration) {
  const unsigned long* const words = in;
  for (size_t at = 0; at < face->bytes / 8; ++at)
    if (words[at] != word_of(face->peer, me, iteration, at)) {
      fprintf(stderr, "halo: rank %d, iteration %d: word %zu from rank %d is %lx, expected %lx\n", me,
              iteration, at, face->peer, words[at], word_of(face->peer, me, iteration, at));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void pass_time(double us) {
  const double end = bench_seconds() + us * 1e-6;
  while (us > 0 && bench_seconds() < end) {
  }
}

static int selected(const struct face* face, int selection) {
  return selection == kAll || face->far == (selection == kInter);
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double busy_us; /* processor time of this rank in the last exchange */

/* Microseconds of one exchange on this rank. `ready`: persistent requests, receives before sends; NULL:
 * none. */
static double exchange(const struct options* o, struct face* faces, int count, int selection, int me,
                       int iteration, MPI_Request* ready) {
  MPI_Request requests[2 * kFaces];
  MPI_Status statuses[2 * kFaces];
  struct face* of[kFaces];
  int n = 0;
  for (int i = 0; i < count; ++i)
    if (selected(&faces[i], selection)) {
      write_face(&faces[i], me, iteration);
      of[n++] = &faces[i];
    }
  MPI_Barrier(MPI_COMM_WORLD);
  if (o->skew_us > 0) pass_time(o->skew_us * (double)((me * 7919 + iteration * 104729) % 1000) * 1e-3);
  const double busy = processor_seconds(), start = bench_seconds();
  if (ready != NULL) {
    MPI_Startall(2 * n, ready);
    pass_time(o->compute_us);
    MPI_Waitall(2 * n, ready, statuses);
  } else {
    for (int i = 0; i < n; ++i)
      bench_receive(of[i]->in, (int)of[i]->bytes, of[i]->peer, o->managed, &requests[i]);
    for (int i = 0; i < n; ++i)
      MPI_Isend(of[i]->out, (int)of[i]->bytes, MPI_BYTE, of[i]->peer, 1, MPI_COMM_WORLD, &requests[n + i]);
    pass_time(o->compute_us);
    MPI_Waitall(2 * n, requests, statuses);
  }
  const double us = (bench_seconds() - start) * 1e6;
  busy_us = (processor_seconds() - busy) * 1e6;
  for (int i = 0; i < n; ++i) {
    const MPI_Status* const status = &statuses[i];
    check_face(of[i], bench_received(of[i]->in, status, o->managed), me, iteration);
    bench_give_back(status, o->managed);
  }
  return us;
}

static void make_persistent(struct face* faces, int count, int selection, MPI_Request* requests) {
  int n = 0, at = 0;
  for (int i = 0; i < count; ++i) n += selected(&faces[i], selection);
  for (int i = 0; i < count; ++i) {
    if (!selected(&faces[i], selection)) continue;
    MPI_Recv_init(faces[i].in, (int)faces[i].bytes, MPI_BYTE, faces[i].peer, 1, MPI_COMM_WORLD,
                  &requests[at]);
    MPI_Send_init(faces[i].out, (int)faces[i].bytes, MPI_BYTE, faces[i].peer, 1, MPI_COMM_WORLD,
                  &requests[n + at++]);
  }
}

/* times: slowest rank's, [selection][iteration], the first kWarm of each not counted. */
static void report(double* times, int total) {
  double t[kSelections];
  for (int s = 0; s < kSelections; ++s) {
    double* const values = times + (size_t)s * (size_t)total;
    char figure[32];
    for (int i = 0; i < kWarm; ++i) {
      snprintf(figure, sizeof figure, "first-%s", kNames[s]);
      bench_print(figure, i + 1, values[i], "us");
    }
    t[s] = bench_median(values + kWarm, total - kWarm); /* sorts */
    snprintf(figure, sizeof figure, "p10-%s", kNames[s]);
    bench_print(figure, 0, values[kWarm + (total - kWarm) / 10], "us");
    snprintf(figure, sizeof figure, "p90-%s", kNames[s]);
    bench_print(figure, 0, values[kWarm + (total - kWarm) * 9 / 10], "us");
    bench_print(kNames[s], 0, t[s], "us");
  }
  const double longer = t[kInter] > t[kIntra] ? t[kInter] : t[kIntra];
  const double shorter = t[kInter] > t[kIntra] ? t[kIntra] : t[kInter];
  bench_print("efficiency", 0, 100 * longer / t[kAll], "%");
  if (shorter >= 0.1 * longer) bench_print("overlap", 0, 100 * (longer + shorter - t[kAll]) / shorter, "%");
}

int main(int argc, char** argv) {
  int me, ranks;
  struct face faces[kFaces];
  MPI_Request ready[kSelections][2 * kFaces];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct options o = read_options(argc, argv, ranks);
  bench_pin(me % (o.node[0] * o.node[1] * o.node[2]));
  const int count = find_faces(&o, me, faces), total = o.iterations + kWarm;
  double* const own = calloc((size_t)total * kSelections, sizeof *own);
  double* const most = calloc((size_t)total * kSelections, sizeof *most);
  double* const cpu = calloc(2 * (size_t)total, sizeof *cpu); /* for all faces: own, and the sum */
  if (own == NULL || most == NULL || cpu == NULL) fail_with("no memory for the times");
  for (int s = 0; o.persistent && s < kSelections; ++s) make_persistent(faces, count, s, ready[s]);
  for (int i = 0; i < total; ++i)
    for (int s = 0; s < kSelections; ++s) {
      own[s * total + i] =
          exchange(&o, faces, count, s, me, i * kSelections + s, o.persistent ? ready[s] : NULL);
      if (s == kAll) cpu[i] = busy_us / (double)sysconf(_SC_NPROCESSORS_ONLN);
    }
  MPI_Reduce(own, most, total * kSelections, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(cpu, cpu + total, total, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) report(most, total);
  if (me == 0) bench_print("cpu", 0, bench_median(cpu + total + kWarm, total - kWarm), "us");
  for (int s = 0; o.persistent && s < kSelections; ++s) {
    int n = 0;
    for (int i = 0; i < count; ++i) n += 2 * selected(&faces[i], s);
    for (int i = 0; i < n; ++i) MPI_Request_free(&ready[s][i]);
  }
  free(own);
  free(most);
  free(cpu);
  MPI_Finalize();
  return 0;
}
