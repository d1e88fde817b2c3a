/* SPDX-License-Identifier: BSD-3-Clause */
/* The heat equation on a cube, explicit steps with a 7-point stencil, the cube cut into blocks over the
 * ranks.
 *
 * The blocks exchange their faces in two ways: packed by hand into buffers, and described by derived
 * datatypes so that MPI finds the values itself. Both results are compared with a serial solution, and the
 * time of each phase is printed. Usage: stencil3d [points per side] [steps] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFaces = 6 };
enum { kPack, kExchange, kCompute, kPhases };
static const char* const kPhaseNames[kPhases] = {"pack", "exchange", "compute"};
static const double kCoefficient = 0.1; /* stable below 1/6 */

struct block {
  int dims[3];          /* blocks per dimension */
  int at[3];            /* which of them this is */
  int first[3];         /* global index of the first own point */
  int n[3];             /* own points per dimension; one more layer of neighbours' points all around */
  int neighbor[kFaces]; /* ranks at -x +x -y +y -z +z, MPI_PROC_NULL at the cube's surface */
  double *now, *next;
};

static size_t point(const struct block* b, int x, int y, int z) {
  return ((size_t)x * (size_t)(b->n[1] + 2) + (size_t)y) * (size_t)(b->n[2] + 2) + (size_t)z;
}

static size_t points(const struct block* b) { return point(b, b->n[0] + 1, b->n[1] + 1, b->n[2] + 1) + 1; }

static double initial(int x, int y, int z, int side) {
  const double s = acos(-1.0) / (side + 1);
  return sin(s * (x + 1)) * sin(s * (y + 1)) * sin(s * (z + 1)) + 0.1 * ((x * 7 + y * 5 + z * 3) % 11);
}

/* The three factors of `size` that lie closest together, largest first. */
static void choose_dims(int size, int dims[3]) {
  long best = -1;
  for (int a = 1; a <= size; ++a) {
    if (size % a) continue;
    for (int b = 1; b <= size / a; ++b) {
      if ((size / a) % b) continue;
      const int c = size / a / b;
      const long surface = (long)a * b + (long)b * c + (long)a * c;
      if (a < b || b < c || (best >= 0 && surface >= best)) continue;
      best = surface;
      dims[0] = a, dims[1] = b, dims[2] = c;
    }
  }
}

static void set_up(struct block* b, int rank, int size, int side) {
  choose_dims(size, b->dims);
  const int stride[3] = {b->dims[1] * b->dims[2], b->dims[2], 1};
  for (int d = 0; d < 3; ++d) {
    b->at[d] = rank / stride[d] % b->dims[d];
    b->first[d] = side * b->at[d] / b->dims[d];
    b->n[d] = side * (b->at[d] + 1) / b->dims[d] - b->first[d];
    b->neighbor[2 * d] = b->at[d] > 0 ? rank - stride[d] : MPI_PROC_NULL;
    b->neighbor[2 * d + 1] = b->at[d] + 1 < b->dims[d] ? rank + stride[d] : MPI_PROC_NULL;
  }
  b->now = calloc(points(b), sizeof(double));
  b->next = calloc(points(b), sizeof(double));
  if (!b->now || !b->next) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void start_values(struct block* b, int side) {
  memset(b->now, 0, points(b) * sizeof(double)); /* the cube's surface is kept at zero */
  memset(b->next, 0, points(b) * sizeof(double));
  for (int x = 0; x < b->n[0]; ++x)
    for (int y = 0; y < b->n[1]; ++y)
      for (int z = 0; z < b->n[2]; ++z)
        b->now[point(b, x + 1, y + 1, z + 1)] =
            initial(b->first[0] + x, b->first[1] + y, b->first[2] + z, side);
}

static void step(struct block* b) {
  const long dx = (long)point(b, 1, 0, 0), dy = (long)point(b, 0, 1, 0);
  for (int x = 1; x <= b->n[0]; ++x)
    for (int y = 1; y <= b->n[1]; ++y)
      for (int z = 1; z <= b->n[2]; ++z) {
        const double* u = b->now + point(b, x, y, z);
        b->next[point(b, x, y, z)] =
            *u + kCoefficient * (u[1] + u[-1] + u[dy] + u[-dy] + u[dx] + u[-dx] - 6 * *u);
      }
  double* swap = b->now;
  b->now = b->next;
  b->next = swap;
}

/* Face f lies in dimension f/2; `layer` 0 and n+1 are the neighbours' points, 1 and n the own outermost
 * ones. */
static int own_layer(const struct block* b, int f) { return f % 2 ? b->n[f / 2] : 1; }
static int halo_layer(const struct block* b, int f) { return f % 2 ? b->n[f / 2] + 1 : 0; }
static int face_points(const struct block* b, int f) { return b->n[(f / 2 + 1) % 3] * b->n[(f / 2 + 2) % 3]; }

static void copy_face(const struct block* b, int f, int layer, double* buffer, int pack) {
  const int d = f / 2, outer = d == 0 ? 1 : 0, inner = d == 2 ? 1 : 2;
  int index[3];
  index[d] = layer;
  for (index[outer] = 1; index[outer] <= b->n[outer]; ++index[outer])
    for (index[inner] = 1; index[inner] <= b->n[inner]; ++index[inner]) {
      double* u = b->now + point(b, index[0], index[1], index[2]);
      if (pack)
        *buffer++ = *u;
      else
        *u = *buffer++;
    }
}

static void exchange_packed(struct block* b, double* send[kFaces], double* receive[kFaces],
                            double seconds[kPhases]) {
  MPI_Request requests[2 * kFaces];
  double t0 = MPI_Wtime();
  for (int f = 0; f < kFaces; ++f)
    if (b->neighbor[f] != MPI_PROC_NULL) copy_face(b, f, own_layer(b, f), send[f], 1);
  double t1 = MPI_Wtime();
  seconds[kPack] += t1 - t0;
  for (int f = 0; f < kFaces; ++f) { /* what leaves through face f arrives through the neighbour's face f^1 */
    const int count = face_points(b, f);
    MPI_Irecv(receive[f], count, MPI_DOUBLE, b->neighbor[f], f ^ 1, MPI_COMM_WORLD, &requests[f]);
    MPI_Isend(send[f], count, MPI_DOUBLE, b->neighbor[f], f, MPI_COMM_WORLD, &requests[kFaces + f]);
  }
  MPI_Waitall(2 * kFaces, requests, MPI_STATUSES_IGNORE);
  t0 = MPI_Wtime();
  seconds[kExchange] += t0 - t1;
  for (int f = 0; f < kFaces; ++f)
    if (b->neighbor[f] != MPI_PROC_NULL) copy_face(b, f, halo_layer(b, f), receive[f], 0);
  seconds[kPack] += MPI_Wtime() - t0;
}

/* A type for the face of a dimension: lines of points across x, lines across y, single points across z. */
static void make_types(const struct block* b, MPI_Datatype types[3]) {
  const int line = b->n[2] + 2, plane = (b->n[1] + 2) * line, cells = b->n[0] * b->n[1];
  MPI_Type_vector(b->n[1], b->n[2], line, MPI_DOUBLE, &types[0]);
  MPI_Type_vector(b->n[0], b->n[2], plane, MPI_DOUBLE, &types[1]);
  int* lengths = malloc((size_t)cells * sizeof(int));
  int* places = malloc((size_t)cells * sizeof(int));
  if (!lengths || !places) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < cells; ++i) {
    lengths[i] = 1;
    places[i] = i / b->n[1] * plane + i % b->n[1] * line;
  }
  MPI_Type_indexed(cells, lengths, places, MPI_DOUBLE, &types[2]);
  free(lengths);
  free(places);
  for (int d = 0; d < 3; ++d) MPI_Type_commit(&types[d]);
}

static double* face_start(const struct block* b, int f, int layer) {
  int index[3] = {1, 1, 1};
  index[f / 2] = layer;
  return b->now + point(b, index[0], index[1], index[2]);
}

static void exchange_types(struct block* b, const MPI_Datatype types[3], double seconds[kPhases]) {
  MPI_Request requests[2 * kFaces];
  const double t0 = MPI_Wtime();
  for (int f = 0; f < kFaces; ++f) {
    MPI_Irecv(face_start(b, f, halo_layer(b, f)), 1, types[f / 2], b->neighbor[f], f ^ 1, MPI_COMM_WORLD,
              &requests[f]);
    MPI_Isend(face_start(b, f, own_layer(b, f)), 1, types[f / 2], b->neighbor[f], f, MPI_COMM_WORLD,
              &requests[kFaces + f]);
  }
  MPI_Waitall(2 * kFaces, requests, MPI_STATUSES_IGNORE);
  seconds[kExchange] += MPI_Wtime() - t0;
}

/* The whole cube on rank 0, then everywhere. The caller frees it. */
static double* serial_solution(int rank, int side, int steps) {
  double* cube = malloc((size_t)side * (size_t)side * (size_t)side * sizeof(double));
  if (!cube) MPI_Abort(MPI_COMM_WORLD, 2);
  if (rank == 0) {
    struct block whole;
    set_up(&whole, 0, 1, side);
    start_values(&whole, side);
    for (int s = 0; s < steps; ++s) step(&whole);
    for (int x = 0; x < side; ++x)
      for (int y = 0; y < side; ++y)
        memcpy(cube + ((size_t)x * (size_t)side + (size_t)y) * (size_t)side,
               whole.now + point(&whole, x + 1, y + 1, 1), (size_t)side * sizeof(double));
    free(whole.now);
    free(whole.next);
  }
  MPI_Bcast(cube, side * side * side, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return cube;
}

/* The largest difference from the serial solution over all ranks. */
static double difference(const struct block* b, const double* cube, int side) {
  double mine = 0.0, all = 0.0;
  for (int x = 0; x < b->n[0]; ++x)
    for (int y = 0; y < b->n[1]; ++y)
      for (int z = 0; z < b->n[2]; ++z) {
        const size_t global =
            ((size_t)(b->first[0] + x) * (size_t)side + (size_t)(b->first[1] + y)) * (size_t)side +
            (size_t)(b->first[2] + z);
        const double d = fabs(b->now[point(b, x + 1, y + 1, z + 1)] - cube[global]);
        if (!(d <= mine)) mine = d;
      }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void report(int rank, const char* how, const double seconds[kPhases], double off) {
  double slowest[kPhases];
  MPI_Reduce(seconds, slowest, kPhases, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("%-10s", how);
  for (int p = 0; p < kPhases; ++p) printf("  %s %.3f ms", kPhaseNames[p], slowest[p] * 1e3);
  printf("  (slowest rank), off by %.1e\n", off);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int side = argc > 1 ? atoi(argv[1]) : 48, steps = argc > 2 ? atoi(argv[2]) : 20;

  struct block b;
  set_up(&b, rank, size, side);
  for (int d = 0; d < 3; ++d)
    if (side < b.dims[d]) {
      if (rank == 0) fprintf(stderr, "%d points per side are too few for %d ranks\n", side, size);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  if (rank == 0)
    printf("%d^3 points, %d steps, %d x %d x %d ranks\n", side, steps, b.dims[0], b.dims[1], b.dims[2]);
  double* cube = serial_solution(rank, side, steps);

  double* buffers[2][kFaces];
  for (int f = 0; f < kFaces; ++f)
    for (int i = 0; i < 2; ++i) buffers[i][f] = malloc((size_t)face_points(&b, f) * sizeof(double));
  MPI_Datatype types[3];
  make_types(&b, types);

  int wrong = 0;
  for (int derived = 0; derived < 2; ++derived) {
    double seconds[kPhases] = {0};
    start_values(&b, side);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int s = 0; s < steps; ++s) {
      if (derived)
        exchange_types(&b, types, seconds);
      else
        exchange_packed(&b, buffers[0], buffers[1], seconds);
      const double t0 = MPI_Wtime();
      step(&b);
      seconds[kCompute] += MPI_Wtime() - t0;
    }
    const double off = difference(&b, cube, side);
    report(rank, derived ? "datatypes" : "packed", seconds, off);
    if (!(off <= 1e-12)) wrong = 1;
  }
  if (wrong && rank == 0) fprintf(stderr, "the parallel solution differs from the serial one\n");

  for (int d = 0; d < 3; ++d) MPI_Type_free(&types[d]);
  for (int f = 0; f < kFaces; ++f)
    for (int i = 0; i < 2; ++i) free(buffers[i][f]);
  free(cube);
  free(b.now);
  free(b.next);
  MPI_Finalize();
  return wrong;
}
