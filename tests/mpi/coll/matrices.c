/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of matrices does not commute, and its type has holes: every reduction, in every form and in
 * place, keeps the order of ranks and leaves the holes alone (MPI 5.0, 6.9.1, 6.9.5). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
#include <stddef.h>

enum { PRIME = 10007, HOLE = 0x55, MAX_RANKS = 64 };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

typedef struct {
  int a;
  double hole;
  int b, c;
  char other_hole;
  int d;
} Matrix;

static MPI_Datatype type;
static MPI_Op op;
static int rank, size;

static Matrix times(Matrix s, Matrix t) {
  Matrix r = t;
  r.a = (s.a * t.a + s.b * t.c) % PRIME;
  r.b = (s.a * t.b + s.b * t.d) % PRIME;
  r.c = (s.c * t.a + s.d * t.c) % PRIME;
  r.d = (s.c * t.b + s.d * t.d) % PRIME;
  return r;
}

static void multiply(void* in, void* inout, int* count, MPI_Datatype* of) {
  const Matrix* const left = in;
  Matrix* const right = inout;
  CHECK(*of == type);
  for (int i = 0; i < *count; ++i) right[i] = times(left[i], right[i]);
}

static Matrix element(int of_rank, int i) {
  Matrix m;
  memset(&m, HOLE, sizeof m);
  m.a = 1 + of_rank + i % 7;
  m.b = of_rank * 3 + 1;
  m.c = i % 11;
  m.d = 2 + of_rank % 5;
  return m;
}

static Matrix product(int first, int last, int i) {
  Matrix m = element(first, i);
  for (int r = first + 1; r <= last; ++r) m = times(m, element(r, i));
  return m;
}

static void check_same(const Matrix* got, Matrix want) {
  Matrix untouched;
  memset(&untouched, HOLE, sizeof untouched);
  CHECK(got->a == want.a && got->b == want.b && got->c == want.c && got->d == want.d);
  CHECK(memcmp(&got->hole, &untouched.hole, sizeof got->hole) == 0);
  CHECK(got->other_hole == untouched.other_hole);
}

typedef struct {
  Matrix *in, *out;
  int count, form, place;
  int counts[MAX_RANKS]; /* of MPI_Reduce_scatter */
} Case;

static void fill_in(const Case* c) {
  for (int i = 0; i < c->count * size; ++i) {
    c->in[i] = element(rank, i);
    c->out[i] = c->place ? element(rank, i) : element(99, i);
  }
}

/* One reduction of the kind in the given form. A persistent one runs twice. */
typedef int (*Starter)(const Case* c, void* send, MPI_Request* request);

static void run(const Case* c, Starter start, void* send) {
  MPI_Request request = MPI_REQUEST_NULL;
  fill_in(c);
  OK(start(c, send, &request));
  if (c->form == PERSISTENT) {
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    fill_in(c);
    OK(MPI_Start(&request));
  }
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (c->form == PERSISTENT) OK(MPI_Request_free(&request));
}

#define STARTER(name, Name, middle)                                                                \
  static int name(const Case* c, void* send, MPI_Request* request) {                               \
    if (c->form == BLOCKING) return MPI_##Name(send, c->out, middle, MPI_COMM_WORLD);              \
    if (c->form == NONBLOCKING) return MPI_I##name(send, c->out, middle, MPI_COMM_WORLD, request); \
    return MPI_##Name##_init(send, c->out, middle, MPI_COMM_WORLD, MPI_INFO_NULL, request);        \
  }
#define COMMA ,
STARTER(allreduce, Allreduce, c->count COMMA type COMMA op)
STARTER(reduce, Reduce, c->count COMMA type COMMA op COMMA size - 1)
STARTER(scan, Scan, c->count COMMA type COMMA op)
STARTER(exscan, Exscan, c->count COMMA type COMMA op)
STARTER(reduce_scatter_block, Reduce_scatter_block, c->count COMMA type COMMA op)
STARTER(reduce_scatter, Reduce_scatter, c->counts COMMA type COMMA op)

static void check_all(Case* c) {
  void* const send = c->place ? MPI_IN_PLACE : (void*)c->in;
  int before = 0;
  for (int i = 0; i < size; ++i) {
    c->counts[i] = i % 2 ? 0 : c->count;
    if (i < rank) before += c->counts[i];
  }
  run(c, allreduce, send);
  for (int i = 0; i < c->count; ++i) check_same(&c->out[i], product(0, size - 1, i));
  run(c, reduce, rank == size - 1 ? send : c->in);
  for (int i = 0; i < c->count && rank == size - 1; ++i) check_same(&c->out[i], product(0, size - 1, i));
  run(c, scan, send);
  for (int i = 0; i < c->count; ++i) check_same(&c->out[i], product(0, rank, i));
  run(c, exscan, send);
  for (int i = 0; i < c->count; ++i) {
    /* The first rank's buffer is not significant and must not change. */
    check_same(&c->out[i], rank > 0 ? product(0, rank - 1, i) : element(c->place ? rank : 99, i));
  }
  run(c, reduce_scatter_block, send);
  for (int i = 0; i < c->count; ++i) check_same(&c->out[i], product(0, size - 1, rank * c->count + i));
  run(c, reduce_scatter, send);
  for (int i = 0; i < c->counts[rank]; ++i) check_same(&c->out[i], product(0, size - 1, before + i));
}

static void make_type(void) {
  int lengths[3] = {1, 2, 1};
  MPI_Aint places[3] = {offsetof(Matrix, a), offsetof(Matrix, b), offsetof(Matrix, d)};
  MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT}, bare;
  OK(MPI_Type_create_struct(3, lengths, places, types, &bare));
  OK(MPI_Type_create_resized(bare, 0, sizeof(Matrix), &type));
  OK(MPI_Type_free(&bare));
  OK(MPI_Type_commit(&type));
}

int main(int argc, char** argv) {
  static const int counts[] = {1, 3, 17, 300, 2000};
  MPI_Init(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_type();
  OK(MPI_Op_create(multiply, 0, &op));
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    Case c = {.count = counts[i]};
    c.in = malloc(sizeof(Matrix) * (size_t)(c.count * size));
    c.out = malloc(sizeof(Matrix) * (size_t)(c.count * size));
    for (c.form = 0; c.form < FORMS; ++c.form) {
      for (c.place = 0; c.place < 2; ++c.place) check_all(&c);
    }
    free(c.in);
    free(c.out);
  }
  OK(MPI_Op_free(&op));
  OK(MPI_Type_free(&type));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
