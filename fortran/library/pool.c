/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks without a state: reductions and error handlers. Layer: fortran. Design:
 * docs/design/fortran.md.
 *
 * C calls them with handles of its own and gives nothing that tells which Fortran procedure is meant. So
 * each procedure has a C function of its own out of a pool. A procedure that is given again gets the same
 * one; none is ever taken back, since nobody tells when the last communicator with an error handler is
 * gone.
 *
 * Threads: slots are taken under a lock and never change after that. */
#include "fortran/library/support.h"

#include <pthread.h>
#include <stdio.h>

enum { kSlots = 256 };
typedef enum { kOp, kOpLarge, kCommError, kFileError, kWinError, kSessionError, kKinds } Kind;
static Callback* slots[kKinds][kSlots];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The slot of a procedure, or -1. */
static int slot_of(Kind kind, Callback* fn) {
  int at = 0;
  pthread_mutex_lock(&lock);
  while (at < kSlots && slots[kind][at] != NULL && slots[kind][at] != fn) ++at;
  if (at < kSlots) slots[kind][at] = fn;
  pthread_mutex_unlock(&lock);
  if (at < kSlots) return at;
  fprintf(stderr,
          "libmpifort_abi: the program gives more than %d different procedures to MPI as reductions or error "
          "handlers of "
          "one kind; give fewer, that look at their arguments\n",
          kSlots);
  return -1;
}

static void call_op(int slot, void* in, void* inout, int* len, MPI_Datatype* datatype) {
  int type = type_to(*datatype);
  ((void (*)(void*, void*, int*, int*))slots[kOp][slot])(in, inout, len, &type);
}
static void call_op_large(int slot, void* in, void* inout, MPI_Count* len, MPI_Datatype* datatype) {
  int type = type_to(*datatype);
  ((void (*)(void*, void*, MPI_Count*, int*))slots[kOpLarge][slot])(in, inout, len, &type);
}
#define CALL_ERROR(word, Type, kind)                           \
  static void call_##word(int slot, Type* object, int* code) { \
    int handle = word##_to(*object);                           \
    ((void (*)(int*, int*))slots[kind][slot])(&handle, code);  \
  }
CALL_ERROR(comm, MPI_Comm, kCommError)
CALL_ERROR(file, MPI_File, kFileError)
CALL_ERROR(win, MPI_Win, kWinError)
CALL_ERROR(session, MPI_Session, kSessionError)

/* Functions number 0 to 255 of each kind: their names end with two digits to the base 16. */
#define ONE(h, l)                                                                                         \
  static void op_##h##l(void* in, void* io, int* n, MPI_Datatype* t) { call_op(0x##h##l, in, io, n, t); } \
  static void op_large_##h##l(void* in, void* io, MPI_Count* n, MPI_Datatype* t) {                        \
    call_op_large(0x##h##l, in, io, n, t);                                                                \
  }                                                                                                       \
  static void comm_##h##l(MPI_Comm* o, int* c, ...) { call_comm(0x##h##l, o, c); }                        \
  static void file_##h##l(MPI_File* o, int* c, ...) { call_file(0x##h##l, o, c); }                        \
  static void win_##h##l(MPI_Win* o, int* c, ...) { call_win(0x##h##l, o, c); }                           \
  static void session_##h##l(MPI_Session* o, int* c, ...) { call_session(0x##h##l, o, c); }
// clang-format off
#define SIXTEEN(M, h) \
  M(h, 0) M(h, 1) M(h, 2) M(h, 3) M(h, 4) M(h, 5) M(h, 6) M(h, 7) \
  M(h, 8) M(h, 9) M(h, a) M(h, b) M(h, c) M(h, d) M(h, e) M(h, f)
#define ALL(M) \
  SIXTEEN(M, 0) SIXTEEN(M, 1) SIXTEEN(M, 2) SIXTEEN(M, 3) \
  SIXTEEN(M, 4) SIXTEEN(M, 5) SIXTEEN(M, 6) SIXTEEN(M, 7) \
  SIXTEEN(M, 8) SIXTEEN(M, 9) SIXTEEN(M, a) SIXTEEN(M, b) \
  SIXTEEN(M, c) SIXTEEN(M, d) SIXTEEN(M, e) SIXTEEN(M, f)
// clang-format on
ALL(ONE)

#define OP(h, l) op_##h##l,
#define OP_LARGE(h, l) op_large_##h##l,
#define COMM(h, l) comm_##h##l,
#define FILE_(h, l) file_##h##l,
#define WIN(h, l) win_##h##l,
#define SESSION(h, l) session_##h##l,
static MPI_User_function* const ops[kSlots] = {ALL(OP)};
static MPI_User_function_c* const large_ops[kSlots] = {ALL(OP_LARGE)};
static MPI_Comm_errhandler_function* const comms[kSlots] = {ALL(COMM)};
static MPI_File_errhandler_function* const files[kSlots] = {ALL(FILE_)};
static MPI_Win_errhandler_function* const wins[kSlots] = {ALL(WIN)};
static MPI_Session_errhandler_function* const sessions[kSlots] = {ALL(SESSION)};

void pmpi_op_create_(Callback* user_fn, int* commute, int* op, int* ierror) {
  MPI_Op made = MPI_OP_NULL;
  const int slot = slot_of(kOp, user_fn);
  const int code = slot < 0 ? MPI_ERR_NO_MEM : PMPI_Op_create(ops[slot], logical_from(*commute), &made);
  if (code == MPI_SUCCESS) *op = op_to(made);
  GIVE(ierror, code);
}
NAMES(op_create)

void pmpi_op_create_c_f08_(Callback* user_fn, int* commute, int* op, int* ierror) {
  MPI_Op made = MPI_OP_NULL;
  const int slot = slot_of(kOpLarge, user_fn);
  const int code =
      slot < 0 ? MPI_ERR_NO_MEM : PMPI_Op_create_c(large_ops[slot], logical_from(*commute), &made);
  if (code == MPI_SUCCESS) *op = op_to(made);
  GIVE(ierror, code);
}
NAMES_LARGE(op_create_c)

#define CREATE(word, Name, kind)                                                                        \
  void pmpi_##word##_create_errhandler_(Callback* fn, int* errhandler, int* ierror) {                   \
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                          \
    const int slot = slot_of(kind, fn);                                                                 \
    const int code = slot < 0 ? MPI_ERR_NO_MEM : PMPI_##Name##_create_errhandler(word##s[slot], &made); \
    if (code == MPI_SUCCESS) *errhandler = errhandler_to(made);                                         \
    GIVE(ierror, code);                                                                                 \
  }                                                                                                     \
  NAMES(word##_create_errhandler)
CREATE(comm, Comm, kCommError)
CREATE(file, File, kFileError)
CREATE(win, Win, kWinError)
CREATE(session, Session, kSessionError)
