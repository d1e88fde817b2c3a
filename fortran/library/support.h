/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C functions that Fortran calls share: conversions of handles, logicals, strings and sentinels.
 * Layer: fortran.
 *
 * This folder is a user of the C interface: it includes mpi.h and calls PMPI_*, and nothing else of
 * Starling.
 *
 * Threads:   as the MPI functions themselves; what is kept here has a lock of its own. Ownership:
 * Fortran's arguments are borrowed until the call returns. Errors:    the code that C returns goes to
 * ierror; an absent ierror is a null pointer. Units:     lengths of strings in characters; INTEGER and
 * LOGICAL have 4 bytes. */
#ifndef STARLING_FORTRAN_SUPPORT_H
#define STARLING_FORTRAN_SUPPORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void Callback(void);

/* Other symbols of a body. Fortran's names for it are those of MPI 5.0, table 19.1. */
#define ALIAS(name, of) extern __typeof__(of) name __attribute__((weak, alias(#of)))
#define NAMES_F90(name) ALIAS(mpi_##name##_, pmpi_##name##_);
#define NAMES(name)                         \
  ALIAS(mpi_##name##_, pmpi_##name##_);     \
  ALIAS(mpi_##name##_f08_, pmpi_##name##_); \
  ALIAS(pmpi_##name##_f08_, pmpi_##name##_);
#define NAMES_CPTR(name)                     \
  NAMES(name)                                \
  ALIAS(mpi_##name##_cptr_, pmpi_##name##_); \
  ALIAS(pmpi_##name##_cptr_, pmpi_##name##_);
#define NAMES_LARGE(name) ALIAS(mpi_##name##_f08_, pmpi_##name##_f08_);

#define GIVE(ierror, code) \
  if (ierror) *ierror = code

/* Fortran's sentinels: members of a common block, known by their address. The modules and mpif.h declare
 * the same. */
typedef struct {
  int bottom, in_place, buffer_automatic;
  int unweighted[1], weights_empty[1], errcodes_ignore[1];
  int status_ignore[8], statuses_ignore[8];
} Sentinels;
extern Sentinels starling_mpi_sentinels_;
typedef struct {
  char argv_null[1], argvs_null[1];
} TextSentinels;
extern TextSentinels starling_mpi_texts_;

/* .TRUE. and .FALSE. of the compiler, from compiler.F90. */
extern struct { int yes, no; } starling_mpi_logicals_;

static inline int logical_from(int value) { return value != starling_mpi_logicals_.no; }
static inline int logical_to(int value) {
  return value ? starling_mpi_logicals_.yes : starling_mpi_logicals_.no;
}

HIDDEN void* sentinel_address(void* buffer);
HIDDEN int is_sentinel(const void* buffer, const int* sentinel);

/* A buffer. All sentinels stand side by side, so one compare tells an ordinary buffer. */
static inline int is_special(const void* buffer) {
  return (uintptr_t)buffer - (uintptr_t)&starling_mpi_sentinels_ < sizeof(Sentinels);
}
static inline void* buffer_of(void* buffer) { return is_special(buffer) ? sentinel_address(buffer) : buffer; }
static inline int is_in_place(const void* buffer) { return buffer == &starling_mpi_sentinels_.in_place; }

/* C's MPI_STATUS_IGNORE, handed to Fortran by C as MPI_F_STATUS_IGNORE, is a null pointer. */
static inline MPI_Status* status_of(int* status) {
  return status == starling_mpi_sentinels_.status_ignore ? MPI_STATUS_IGNORE : (MPI_Status*)status;
}
static inline MPI_Status* statuses_of(int* statuses) {
  return statuses == starling_mpi_sentinels_.statuses_ignore ? MPI_STATUSES_IGNORE : (MPI_Status*)statuses;
}
static inline int* weights_of(int* values) {
  if (values == starling_mpi_sentinels_.unweighted) return MPI_UNWEIGHTED;
  return values == starling_mpi_sentinels_.weights_empty ? MPI_WEIGHTS_EMPTY : values;
}

/* A handle is the INTEGER that MPI_*_toint gives; predefined ones are constants of the ABI, below 4096
 * (20.3). */
#define HANDLE(word, Kind, Type)                                                           \
  static inline Type word##_from(int value) {                                              \
    return (unsigned)value < 4096 ? (Type)(intptr_t)value : PMPI_##Kind##_fromint(value);  \
  }                                                                                        \
  static inline int word##_to(Type handle) {                                               \
    return (uintptr_t)handle < 4096 ? (int)(intptr_t)handle : PMPI_##Kind##_toint(handle); \
  }
HANDLE(comm, Comm, MPI_Comm)
HANDLE(type, Type, MPI_Datatype)
HANDLE(errhandler, Errhandler, MPI_Errhandler)
HANDLE(file, File, MPI_File)
HANDLE(group, Group, MPI_Group)
HANDLE(info, Info, MPI_Info)
HANDLE(message, Message, MPI_Message)
HANDLE(op, Op, MPI_Op)
HANDLE(request, Request, MPI_Request)
HANDLE(session, Session, MPI_Session)
HANDLE(win, Win, MPI_Win)
#undef HANDLE

#define LIKELY(condition) __builtin_expect(condition, 1)
/* A function that its caller jumps to, and so needs no frame for. */
#define APART static __attribute__((noinline))
/* Whether a handle is a constant, from its integer. */
static inline int is_constant(int handle) { return (unsigned)handle < 4096; }

/* Functions that every library has are called without a stub; others must be found late (-z lazy). */
#ifdef __clang__
#define SURELY_THERE(name) extern __typeof__(name) name
#else
#define SURELY_THERE(name) extern __typeof__(name) name __attribute__((noplt))
#endif
/* The routine for other files of this library, which calls it without a stub, too. */
#define INSIDE(name)                                \
  extern __typeof__(pmpi_##name##_) starling_##name \
      __attribute__((alias("pmpi_" #name "_"), visibility("hidden")));

/* Arrays that are converted: few elements have room on the stack. */
enum { kFew = 16 };
HIDDEN void* room(int count, size_t size, void* few);
HIDDEN void give_back(void* at, void* few);
static inline int length(int count) { return count > 0 ? count : 0; }
HIDDEN int cart_dimensions(const int* comm);
HIDDEN int peers(const int* comm);
HIDDEN int sent(const int* comm);
HIDDEN int received(const int* comm);

/* A string of Fortran for C: without the blanks around it, with the final zero. */
typedef struct {
  char* at;
  char few[256];
} Text;
HIDDEN void text_from(Text* text, const char* from, size_t length);
/* As text_from, and without leading blanks: keys and values of info objects (MPI 5.0, chapter 10). */
HIDDEN void info_text_from(Text* text, const char* from, size_t length);
HIDDEN void text_free(Text* text);
/* Padded with blanks, cut off where it is too long. */
HIDDEN void text_to(char* to, size_t length, const char* from);
/* Its length without trailing blanks. */
HIDDEN size_t text_length(const char* from, size_t length);

/* Sections of arrays that requests use (pending.c). How many there are; and the steps of a request: */
extern HIDDEN int sections_pending;
typedef struct Pending Pending;
HIDDEN Pending* await(int request);                    /* C may complete it now; null: it has no sections */
HIDDEN void settle(Pending* pending, MPI_Request now); /* it may have completed, `now` is what C made of it */
HIDDEN Pending** await_all(const int* requests, int n); /* null: none has any */
HIDDEN void settle_all(Pending** pending, const MPI_Request* now, int n);
HIDDEN void collect(int request);          /* a part has arrived */
HIDDEN void collect_complete(int request); /* it may have completed and stays */
HIDDEN void refresh(int request);          /* it starts, or a part of it */
HIDDEN void abandon(int request);          /* it is freed */
HIDDEN void forget(int request);           /* it is new: what is kept under its handle is an ended one's */

/* Tells the C library about the Fortran compiler, once (MPI 5.0, 20.4.1). */
HIDDEN void register_compiler(void);

#endif
