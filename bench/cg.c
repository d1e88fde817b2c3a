/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole program instead of one call: conjugate gradients for the 7-point Laplacian of a cube.
 *
 *   cg [CELLS...]   cells along each edge of a rank's own block (default: 8 16 32 64)
 *
 * An iteration: the faces of the block are packed and exchanged with the neighbours (nonblocking), the cells
 * that need none of them are computed meanwhile, then the others; two sums of 8 bytes over all ranks
 * (MPI_Allreduce) and three vector updates. Sizes in the output are CELLS. cg: time of an iteration; cg-halo
 * and cg-dot: what of it the slowest rank spends on the faces, and in the sums, others' lateness included;
 * cg-computing: the same loops without MPI. Each is the median of some solutions from the start. What the
 * solver finds is held against the known solution. */
#include "bench.h"

#include <mpi.h>

enum { kFaces = 6, kBatches = 9, kLeastIterations = 40 };
enum { kTotal, kHalo, kDot, kTimes };

/* Vectors have a layer of cells of the neighbours around the block. */
typedef struct {
  int n;     /* cells along each edge of the block */
  int row;   /* n + 2: from one cell to the next along y */
  int plane; /* along x */
  MPI_Comm comm;
  int peer[kFaces]; /* at lower and higher x, y, z; MPI_PROC_NULL at the edge of the cube */
  double *out[kFaces], *in[kFaces];
  double *x, *r, *p, *q;
  double seconds[kTimes];
} block;

static double* vector_of(const block* b) {
  const size_t bytes = (size_t)b->row * (size_t)b->plane * sizeof(double);
  double* const vector = (double*)bench_buffer(bytes);
  memset(vector, 0, bytes);
  return vector;
}

static block block_of(int n, MPI_Comm comm) {
  block b = {.n = n, .row = n + 2, .plane = (n + 2) * (n + 2), .comm = comm};
  for (int axis = 0; axis < 3; ++axis)
    MPI_Cart_shift(comm, axis, 1, &b.peer[2 * axis], &b.peer[2 * axis + 1]);
  for (int f = 0; f < kFaces; ++f) {
    b.out[f] = (double*)bench_buffer((size_t)n * (size_t)n * sizeof(double));
    b.in[f] = (double*)bench_buffer((size_t)n * (size_t)n * sizeof(double));
  }
  b.x = vector_of(&b);
  b.r = vector_of(&b);
  b.p = vector_of(&b);
  b.q = vector_of(&b);
  return b;
}

static void free_block(block* b) {
  for (int f = 0; f < kFaces; ++f) {
    free(b->out[f]);
    free(b->in[f]);
  }
  free(b->x);
  free(b->r);
  free(b->p);
  free(b->q);
}

/* Copies a face of p, `layer` counted along its axis, to or from a message. */
static void copy_face(const block* b, int axis, int layer, double* message, int from_message) {
  const int steps[3] = {b->plane, b->row, 1};
  const int outer = steps[axis == 0 ? 1 : 0], inner = steps[axis == 2 ? 1 : 2];
  for (int i = 1; i <= b->n; ++i) {
    double* cell = b->p + layer * steps[axis] + i * outer + inner;
    for (int j = 0; j < b->n; ++j, cell += inner, ++message) {
      if (from_message)
        *cell = *message;
      else
        *message = *cell;
    }
  }
}

static int start_halo(const block* b, MPI_Request* requests) {
  const int count = b->n * b->n;
  int started = 0;
  for (int f = 0; f < kFaces; ++f)
    if (b->peer[f] != MPI_PROC_NULL)
      MPI_Irecv(b->in[f], count, MPI_DOUBLE, b->peer[f], f, b->comm, &requests[started++]);
  for (int f = 0; f < kFaces; ++f) {
    if (b->peer[f] == MPI_PROC_NULL) continue;
    copy_face(b, f / 2, f % 2 ? b->n : 1, b->out[f], 0);
    MPI_Isend(b->out[f], count, MPI_DOUBLE, b->peer[f], f ^ 1, b->comm,
              &requests[started++]); /* its other side */
  }
  return started;
}

static void take_halo(const block* b) {
  for (int f = 0; f < kFaces; ++f)
    if (b->peer[f] != MPI_PROC_NULL) copy_face(b, f / 2, f % 2 ? b->n + 1 : 0, b->in[f], 1);
}

/* q = A p for the cells [from, to] along z of one row. */
static void apply_row(const block* b, int x, int y, int from, int to) {
  const double* const p = b->p + x * b->plane + y * b->row;
  double* const q = b->q + x * b->plane + y * b->row;
  for (int z = from; z <= to; ++z)
    q[z] = 6 * p[z] - p[z - 1] - p[z + 1] - p[z - b->row] - p[z + b->row] - p[z - b->plane] - p[z + b->plane];
}

static void apply_inside(const block* b) {
  for (int x = 2; x < b->n; ++x)
    for (int y = 2; y < b->n; ++y) apply_row(b, x, y, 2, b->n - 1);
}

static void apply_outside(const block* b) {
  for (int x = 1; x <= b->n; ++x)
    for (int y = 1; y <= b->n; ++y) {
      if (x == 1 || x == b->n || y == 1 || y == b->n) {
        apply_row(b, x, y, 1, b->n);
      } else {
        apply_row(b, x, y, 1, 1);
        apply_row(b, x, y, b->n, b->n);
      }
    }
}

static double dot(const block* b, const double* u, const double* v) {
  double sum = 0;
  for (int x = 1; x <= b->n; ++x)
    for (int y = 1; y <= b->n; ++y) {
      const int at = x * b->plane + y * b->row;
      for (int z = 1; z <= b->n; ++z) sum += u[at + z] * v[at + z];
    }
  return sum;
}

/* u = s u + t v */
static void update(const block* b, double* u, double s, double t, const double* v) {
  for (int x = 1; x <= b->n; ++x)
    for (int y = 1; y <= b->n; ++y) {
      const int at = x * b->plane + y * b->row;
      for (int z = 1; z <= b->n; ++z) u[at + z] = s * u[at + z] + t * v[at + z];
    }
}

static double sum_of_all(block* b, double mine) {
  double all;
  const double begin = bench_seconds();
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, b->comm);
  b->seconds[kDot] += bench_seconds() - begin;
  return all;
}

static void multiply(block* b) {
  MPI_Request requests[2 * kFaces];
  double begin = bench_seconds();
  const int started = start_halo(b, requests);
  b->seconds[kHalo] += bench_seconds() - begin;
  apply_inside(b);
  begin = bench_seconds();
  MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
  take_halo(b);
  b->seconds[kHalo] += bench_seconds() - begin;
  apply_outside(b);
}

/* The solution is 1 everywhere, with 0 around the cube: the right side counts the sides that a cell has on
 * its edge. */
static void begin_solution(block* b) {
  const size_t bytes = (size_t)b->row * (size_t)b->plane * sizeof(double);
  memset(b->x, 0, bytes);
  memset(b->p, 0, bytes);
  for (int x = 1; x <= b->n; ++x)
    for (int y = 1; y <= b->n; ++y)
      for (int z = 1; z <= b->n; ++z) {
        const int at[3] = {x, y, z};
        double edges = 0;
        for (int f = 0; f < kFaces; ++f)
          edges += b->peer[f] == MPI_PROC_NULL && at[f / 2] == (f % 2 ? b->n : 1);
        b->p[x * b->plane + y * b->row + z] = edges;
      }
  memcpy(b->r, b->p, bytes);
  memset(b->seconds, 0, sizeof b->seconds);
}

/* Until that many iterations or until the square of the residual is `least`. */
static void iterate(block* b, int iterations, double least) {
  double rr = sum_of_all(b, dot(b, b->r, b->r));
  for (int i = 0; i < iterations && rr > least; ++i) {
    multiply(b);
    const double alpha = rr / sum_of_all(b, dot(b, b->p, b->q));
    update(b, b->x, 1, alpha, b->p);
    update(b, b->r, 1, -alpha, b->q);
    const double next = sum_of_all(b, dot(b, b->r, b->r));
    update(b, b->p, next / rr, 1, b->r);
    rr = next;
  }
}

static double worst_error(const block* b) {
  double mine = 0, all;
  for (int x = 1; x <= b->n; ++x)
    for (int y = 1; y <= b->n; ++y)
      for (int z = 1; z <= b->n; ++z) {
        const double error = b->x[x * b->plane + y * b->row + z] - 1;
        if (error > mine) mine = error;
        if (-error > mine) mine = -error;
      }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, b->comm);
  return all;
}

static void check_solver(block* b, int edge) {
  begin_solution(b);
  iterate(b, 6 * edge + 60, 1e-20);
  const double error = worst_error(b);
  if (error < 1e-6) return;
  fprintf(stderr, "cg: wrong by %g with %d cells\n", error, b->n);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Iterations without MPI, which only have to take their time: the values of p are kept finite. */
static double computing(block* b, int iterations) {
  const double begin = bench_seconds();
  for (int i = 0; i < iterations; ++i) {
    apply_inside(b);
    apply_outside(b);
    const double s = dot(b, b->p, b->q), t = dot(b, b->r, b->r);
    update(b, b->x, 1, s * 1e-300, b->p);
    update(b, b->r, 1, t * 1e-300, b->q);
    update(b, b->p, 1, 1e-300, b->r);
  }
  return (bench_seconds() - begin) / iterations;
}

static double slowest(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void measure(int n, MPI_Comm comm, int edge, int rank) {
  static const char* const names[kTimes] = {"cg", "cg-halo", "cg-dot"};
  double batches[kTimes][kBatches], computed[kBatches];
  block b = block_of(n, comm);
  /* No more than converge: the numbers stay of normal size. Short ones are repeated. */
  const int iterations = edge < kLeastIterations ? edge : kLeastIterations;
  const int repeats = 1 + (int)(20e6 / ((double)n * n * n + 2e4) / iterations);
  check_solver(&b, edge);
  for (int batch = 0; batch < kBatches; ++batch) {
    double seconds[kTimes] = {0};
    for (int i = 0; i < repeats; ++i) {
      begin_solution(&b);
      MPI_Barrier(comm);
      const double begin = bench_seconds();
      iterate(&b, iterations, 0);
      b.seconds[kTotal] = bench_seconds() - begin;
      for (int t = 0; t < kTimes; ++t) seconds[t] += b.seconds[t] / iterations / repeats;
    }
    for (int t = 0; t < kTimes; ++t) batches[t][batch] = slowest(seconds[t]);
    computed[batch] = slowest(computing(&b, iterations * repeats));
  }
  for (int t = 0; t < kTimes && rank == 0; ++t)
    bench_print(names[t], n, bench_median(batches[t], kBatches) * 1e6, "us");
  if (rank == 0) bench_print("cg-computing", n, bench_median(computed, kBatches) * 1e6, "us");
  free_block(&b);
}

int main(int argc, char** argv) {
  static const int usual[] = {8, 16, 32, 64};
  int rank, ranks, grid[3] = {0}, periods[3] = {0};
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bench_pin(rank);
  MPI_Dims_create(ranks, 3, grid);
  MPI_Cart_create(MPI_COMM_WORLD, 3, grid, periods, 0, &comm);
  const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
  for (int i = 0; i < count; ++i) {
    const int n = argc > 1 ? atoi(argv[i + 1]) : usual[i];
    if (n < 2 || n > 512) {
      if (rank == 0) fprintf(stderr, "cg: a block has 2 to 512 cells along each edge\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure(n, comm, n * grid[0], rank);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
