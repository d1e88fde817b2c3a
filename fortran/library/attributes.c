/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes across the languages (MPI 5.0, 19.3.7). Layer: fortran. Design: docs/design/fortran.md.
 *
 * A value set from Fortran is an integer: C sees the address of one. So it stands in a cell, whose address
 * the C library stores; a value that is no cell's address was set from C, and Fortran sees the address
 * itself. Callbacks of a keyval made in Fortran give a copy a cell of its own, and free the cell of what
 * is deleted.
 *
 * Threads: the table of cells has a lock. Ownership: cells belong to the attribute; boxes of keyvals live
 * on. */
#include "fortran/library/support.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Cell {
  MPI_Aint value; /* first: C gets its address; an INTEGER set by MPI_ATTR_PUT is its lower half */
  struct Cell* next;
} Cell;

enum { kBuckets = 1024 };
static Cell* buckets[kBuckets];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Cell** bucket_of(const void* at) { return &buckets[((uintptr_t)at >> 4) % kBuckets]; }

static Cell* make_cell(MPI_Aint value) {
  Cell* const cell = malloc(sizeof *cell);
  if (cell == NULL) abort();
  cell->value = value;
  pthread_mutex_lock(&lock);
  cell->next = *bucket_of(cell);
  *bucket_of(cell) = cell;
  pthread_mutex_unlock(&lock);
  return cell;
}

static int is_cell(const void* at) {
  pthread_mutex_lock(&lock);
  const Cell* cell = *bucket_of(at);
  while (cell != NULL && cell != at) cell = cell->next;
  pthread_mutex_unlock(&lock);
  return cell != NULL;
}

/* Nothing happens where `at` is no cell. */
static void free_cell(void* at) {
  pthread_mutex_lock(&lock);
  Cell** link = bucket_of(at);
  while (*link != NULL && *link != at) link = &(*link)->next;
  Cell* const cell = *link;
  if (cell != NULL) *link = cell->next;
  pthread_mutex_unlock(&lock);
  free(cell);
}

static MPI_Aint value_of(void* stored) { return is_cell(stored) ? ((Cell*)stored)->value : (MPI_Aint)stored; }

/* What C gets the address of is a value in Fortran, with its predefined keyvals. */
static MPI_Aint seen_by_fortran(int keyval, void* stored) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL: return *(int*)stored;
    case MPI_WIN_SIZE: return *(MPI_Aint*)stored;
    default: return value_of(stored);
  }
}

/* A keyval made in Fortran. Integers of the deprecated routines have 4 bytes (19.3.7). */
typedef struct Box {
  Callback *copy, *release;
  MPI_Aint extra_state;
  int old;
  struct Box* next;
} Box;
static Box* boxes; /* attributes outlive a freed keyval, and nobody tells when the last one goes */

typedef void CopyFn(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int*, int*);
typedef void OldCopyFn(int*, int*, int*, int*, int*, int*, int*);
typedef void DeleteFn(int*, int*, MPI_Aint*, MPI_Aint*, int*);
typedef void OldDeleteFn(int*, int*, int*, int*, int*);

#define NULL_COPY(name)                                                                                  \
  void pmpi_##name##_(int* object, int* keyval, MPI_Aint* extra, MPI_Aint* in, MPI_Aint* out, int* flag, \
                      int* ierror) {                                                                     \
    (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                        \
    *flag = starling_mpi_logicals_.no;                                                                   \
    *ierror = MPI_SUCCESS;                                                                               \
  }                                                                                                      \
  NAMES_F90(name)
#define DUP(name)                                                                                        \
  void pmpi_##name##_(int* object, int* keyval, MPI_Aint* extra, MPI_Aint* in, MPI_Aint* out, int* flag, \
                      int* ierror) {                                                                     \
    (void)object, (void)keyval, (void)extra;                                                             \
    *out = *in;                                                                                          \
    *flag = starling_mpi_logicals_.yes;                                                                  \
    *ierror = MPI_SUCCESS;                                                                               \
  }                                                                                                      \
  NAMES_F90(name)
#define NULL_DELETE(name)                                                                        \
  void pmpi_##name##_(int* object, int* keyval, MPI_Aint* value, MPI_Aint* extra, int* ierror) { \
    (void)object, (void)keyval, (void)value, (void)extra;                                        \
    *ierror = MPI_SUCCESS;                                                                       \
  }                                                                                              \
  NAMES_F90(name)
NULL_COPY(comm_null_copy_fn)
NULL_COPY(type_null_copy_fn)
NULL_COPY(win_null_copy_fn)
NULL_COPY(null_copy_fn)
DUP(comm_dup_fn)
DUP(type_dup_fn)
DUP(win_dup_fn)
NULL_DELETE(comm_null_delete_fn)
NULL_DELETE(type_null_delete_fn)
NULL_DELETE(win_null_delete_fn)
NULL_DELETE(null_delete_fn)

void pmpi_dup_fn_(int* object, int* keyval, int* extra, int* in, int* out, int* flag, int* ierror) {
  (void)object, (void)keyval, (void)extra;
  *out = *in;
  *flag = starling_mpi_logicals_.yes;
  *ierror = MPI_SUCCESS;
}
NAMES_F90(dup_fn)

#define IS(fn, name) ((fn) == (Callback*)pmpi_##name##_ || (fn) == (Callback*)mpi_##name##_)
static int duplicates(Callback* fn) {
  return IS(fn, comm_dup_fn) || IS(fn, type_dup_fn) || IS(fn, win_dup_fn) || IS(fn, dup_fn);
}

static int copy(int object, int keyval, void* state, void* in, void* out, int* flag) {
  Box* const box = state;
  int fortran_flag = starling_mpi_logicals_.no, ierror = MPI_SUCCESS;
  MPI_Aint value = value_of(in), copied = 0;
  if (duplicates(box->copy)) { /* the value stays one of the language that set it */
    *flag = 1;
    *(void**)out = is_cell(in) ? make_cell(value) : in;
    return MPI_SUCCESS;
  }
  if (box->old) {
    int old_value = (int)value, old_copied = 0, extra = (int)box->extra_state;
    ((OldCopyFn*)box->copy)(&object, &keyval, &extra, &old_value, &old_copied, &fortran_flag, &ierror);
    copied = old_copied;
  } else {
    ((CopyFn*)box->copy)(&object, &keyval, &box->extra_state, &value, &copied, &fortran_flag, &ierror);
  }
  *flag = logical_from(fortran_flag);
  if (ierror == MPI_SUCCESS && *flag) *(void**)out = make_cell(copied);
  return ierror;
}

static int release(int object, int keyval, void* stored, void* state) {
  Box* const box = state;
  int ierror = MPI_SUCCESS;
  MPI_Aint value = value_of(stored);
  if (box->old) {
    int old_value = (int)value, extra = (int)box->extra_state;
    ((OldDeleteFn*)box->release)(&object, &keyval, &old_value, &extra, &ierror);
  } else {
    ((DeleteFn*)box->release)(&object, &keyval, &value, &box->extra_state, &ierror);
  }
  if (ierror == MPI_SUCCESS) free_cell(stored);
  return ierror;
}

static Box* make_box(Callback* copy_fn, Callback* delete_fn, MPI_Aint extra_state, int old) {
  Box* const box = malloc(sizeof *box);
  if (box == NULL) abort();
  *box = (Box){copy_fn, delete_fn, extra_state, old, NULL};
  pthread_mutex_lock(&lock);
  box->next = boxes;
  boxes = box;
  pthread_mutex_unlock(&lock);
  return box;
}

#define KEYVALS(name, Name, Type, word)                                                             \
  static int word##_copy(Type object, int keyval, void* state, void* in, void* out, int* flag) {    \
    return copy(word##_to(object), keyval, state, in, out, flag);                                   \
  }                                                                                                 \
  static int word##_release(Type object, int keyval, void* stored, void* state) {                   \
    return release(word##_to(object), keyval, stored, state);                                       \
  }                                                                                                 \
  void pmpi_##name##_create_keyval_(Callback* copy_fn, Callback* delete_fn, int* keyval,            \
                                    MPI_Aint* extra_state, int* ierror) {                           \
    const int code = PMPI_##Name##_create_keyval(word##_copy, word##_release, keyval,               \
                                                 make_box(copy_fn, delete_fn, *extra_state, 0));    \
    GIVE(ierror, code);                                                                             \
  }                                                                                                 \
  NAMES(name##_create_keyval)                                                                       \
  void pmpi_##name##_set_attr_(int* object, int* keyval, MPI_Aint* value, int* ierror) {            \
    Cell* const cell = make_cell(*value);                                                           \
    const int code = PMPI_##Name##_set_attr(word##_from(*object), *keyval, cell);                   \
    if (code != MPI_SUCCESS) free_cell(cell);                                                       \
    GIVE(ierror, code);                                                                             \
  }                                                                                                 \
  NAMES(name##_set_attr)                                                                            \
  void pmpi_##name##_get_attr_(int* object, int* keyval, MPI_Aint* value, int* flag, int* ierror) { \
    void* stored = NULL;                                                                            \
    int found = 0;                                                                                  \
    const int code = PMPI_##Name##_get_attr(word##_from(*object), *keyval, &stored, &found);        \
    if (code == MPI_SUCCESS) {                                                                      \
      *flag = logical_to(found);                                                                    \
      if (found) *value = seen_by_fortran(*keyval, stored);                                         \
    }                                                                                               \
    GIVE(ierror, code);                                                                             \
  }                                                                                                 \
  NAMES(name##_get_attr)
KEYVALS(comm, Comm, MPI_Comm, comm)
KEYVALS(type, Type, MPI_Datatype, type)
KEYVALS(win, Win, MPI_Win, win)

/* The deprecated forms for communicators, with default integers. */
void pmpi_keyval_create_(Callback* copy_fn, Callback* delete_fn, int* keyval, int* extra_state, int* ierror) {
  const int code =
      PMPI_Comm_create_keyval(comm_copy, comm_release, keyval, make_box(copy_fn, delete_fn, *extra_state, 1));
  GIVE(ierror, code);
}
NAMES_F90(keyval_create)

void pmpi_attr_put_(int* comm, int* keyval, int* attribute_val, int* ierror) {
  MPI_Aint value = *attribute_val;
  pmpi_comm_set_attr_(comm, keyval, &value, ierror);
}
NAMES_F90(attr_put)

void pmpi_attr_get_(int* comm, int* keyval, int* attribute_val, int* flag, int* ierror) {
  MPI_Aint value = *attribute_val;
  pmpi_comm_get_attr_(comm, keyval, &value, flag, ierror);
  *attribute_val = (int)value;
}
NAMES_F90(attr_get)
