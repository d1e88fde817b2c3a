/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that are made and freed again and again leave no memory behind: a program may do so for days.
 * Memory is counted where the C library counts it (mallinfo2); under a sanitizer, which counts by itself,
 * nothing is seen here. np: 1+ */
#include "check.h"

#if !defined(__GLIBC__) || __GLIBC__ * 100 + __GLIBC_MINOR__ < 233
int main(void) { return CHECK_SKIP; }
#else
#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WARM = 20, TURNS = 100 };
#else
enum { WARM = 300, TURNS = 2000 };
#endif

static int rank, size;

static void communicator(void) {
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_free(&comm));
}
static void part(void) {
  MPI_Comm comm;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm));
  OK(MPI_Comm_free(&comm));
}
static void grid(void) {
  int dims[1] = {size}, periods[1] = {1};
  MPI_Comm comm;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm));
  OK(MPI_Comm_free(&comm));
}
static void group(void) {
  MPI_Group world, other;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_excl(world, 1, &rank, &other));
  OK(MPI_Group_free(&other));
  OK(MPI_Group_free(&world));
}
static void datatype(void) {
  MPI_Datatype inner, type;
  OK(MPI_Type_vector(3, 2, 5, MPI_INT, &inner));
  OK(MPI_Type_create_resized(inner, -8, 100, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_free(&inner));
  OK(MPI_Type_free(&type));
}
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}
static void operation(void) {
  MPI_Op op;
  OK(MPI_Op_create(add, 1, &op));
  OK(MPI_Op_free(&op));
}
static void on_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void errhandler(void) {
  MPI_Errhandler handler;
  OK(MPI_Comm_create_errhandler(on_error, &handler));
  OK(MPI_Errhandler_free(&handler));
}
static void info(void) {
  MPI_Info one, two;
  OK(MPI_Info_create(&one));
  OK(MPI_Info_set(one, "a key", "a value that is longer than what a string keeps in itself"));
  OK(MPI_Info_dup(one, &two));
  OK(MPI_Info_free(&one));
  OK(MPI_Info_free(&two));
}
static void attribute(void) {
  int keyval, value = 0;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value));
  OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
  OK(MPI_Comm_free_keyval(&keyval));
}
static void requests(void) {
  int out = rank, in = -1;
  MPI_Request request[2];
  OK(MPI_Recv_init(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request[0]));
  OK(MPI_Send_init(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request[1]));
  OK(MPI_Startall(2, request));
  OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  CHECK_EQ(in, rank);
  OK(MPI_Request_free(&request[0]));
  OK(MPI_Request_free(&request[1]));
}
static void message(void) {
  int out = rank, in = -1;
  MPI_Message found;
  MPI_Request request;
  OK(MPI_Isend(&out, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request));
  OK(MPI_Mprobe(rank, 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
  OK(MPI_Mrecv(&in, 1, MPI_INT, &found, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(in, rank);
}
static void collective(void) {
  int one = 1, sum = 0;
  MPI_Request request;
  OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(sum, size);
}
static void refused(void) {
  CHECK_ERROR(MPI_Send(NULL, -1, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
}

#define KIND(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*turn)(void);
} kinds[] = {KIND(communicator), KIND(part),       KIND(grid),   KIND(group),     KIND(datatype),
             KIND(operation),    KIND(errhandler), KIND(info),   KIND(attribute), KIND(requests),
             KIND(message),      KIND(collective), KIND(refused)};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
    size_t before = 0, after = 0;
    for (int i = 0; i < WARM + TURNS; ++i) {
      if (i == WARM) before = mallinfo2().uordblks;
      kinds[kind].turn();
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    after = mallinfo2().uordblks;
    if (after > before + 8 * TURNS) { /* the smallest piece of memory is 32 bytes */
      fprintf(stderr, "%s: %d times leave %zu bytes\n", kinds[kind].name, TURNS, after - before);
      CHECK(!"memory is given back");
    }
  }
  MPI_Finalize();
  return 0;
}
#endif
