/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks that carry a state of their own: generalised requests and data representations. Layer:
 * fortran. */
#include "fortran/library/support.h"

#include <stdlib.h>

/* The callbacks get the program's own variable, as with other MPI libraries: so it has to live as long as the
 * request, and they may change it. */
typedef struct {
  Callback *query, *release, *cancel;
  MPI_Aint* extra_state;
} Request;

static int query(void* state, MPI_Status* status) {
  Request* const box = state;
  int ierror = MPI_SUCCESS;
  ((void (*)(MPI_Aint*, int*, int*))box->query)(box->extra_state, (int*)status, &ierror);
  return ierror;
}

/* MPI calls it once, when it is done with the request. */
static int release(void* state) {
  Request* const box = state;
  int ierror = MPI_SUCCESS;
  ((void (*)(MPI_Aint*, int*))box->release)(box->extra_state, &ierror);
  free(box);
  return ierror;
}

static int cancel(void* state, int complete) {
  Request* const box = state;
  int ierror = MPI_SUCCESS, fortran_complete = logical_to(complete);
  ((void (*)(MPI_Aint*, int*, int*))box->cancel)(box->extra_state, &fortran_complete, &ierror);
  return ierror;
}

void pmpi_grequest_start_(Callback* query_fn, Callback* free_fn, Callback* cancel_fn, MPI_Aint* extra_state,
                          int* request, int* ierror) {
  MPI_Request made = MPI_REQUEST_NULL;
  Request* const box = malloc(sizeof *box);
  if (box == NULL) abort();
  *box = (Request){query_fn, free_fn, cancel_fn, extra_state};
  const int code = PMPI_Grequest_start(query, release, cancel, box, &made);
  if (code == MPI_SUCCESS) *request = request_to(made);
  if (code != MPI_SUCCESS) free(box);
  GIVE(ierror, code);
}
NAMES(grequest_start)

/* There is no way to take a data representation back, so its box stays. */
typedef struct Representation {
  Callback *read, *write, *extent;
  MPI_Aint extra_state;
  struct Representation* next;
} Representation;
static Representation* representations;

/* MPI_CONVERSION_FN_NULL: C has a constant for it, so nobody calls these. */
void pmpi_conversion_fn_null_(void) {}
NAMES_F90(conversion_fn_null)
void pmpi_conversion_fn_null_c_(void) {}
NAMES_F90(conversion_fn_null_c)

static int no_conversion(Callback* fn) {
  return fn == (Callback*)mpi_conversion_fn_null_ || fn == (Callback*)mpi_conversion_fn_null_c_ ||
         fn == (Callback*)pmpi_conversion_fn_null_ || fn == (Callback*)pmpi_conversion_fn_null_c_;
}

static int extent(MPI_Datatype datatype, MPI_Aint* bytes, void* state) {
  Representation* const box = state;
  int ierror = MPI_SUCCESS, type = type_to(datatype);
  ((void (*)(int*, MPI_Aint*, MPI_Aint*, int*))box->extent)(&type, bytes, &box->extra_state, &ierror);
  return ierror;
}

#define CONVERT(name, Count, member)                                                                     \
  static int name(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position, \
                  void* state) {                                                                         \
    Representation* const box = state;                                                                   \
    int ierror = MPI_SUCCESS, type = type_to(datatype);                                                  \
    ((void (*)(void*, int*, Count*, void*, MPI_Offset*, MPI_Aint*, int*))box->member)(                   \
        userbuf, &type, &count, filebuf, &position, &box->extra_state, &ierror);                         \
    return ierror;                                                                                       \
  }
CONVERT(convert_read, int, read)
CONVERT(convert_write, int, write)
CONVERT(convert_read_c, MPI_Count, read)
CONVERT(convert_write_c, MPI_Count, write)

static Representation* represent(Callback* read, Callback* write, Callback* extent_fn, MPI_Aint extra_state) {
  Representation* const box = malloc(sizeof *box);
  if (box == NULL) abort();
  *box = (Representation){read, write, extent_fn, extra_state, NULL};
  box->next = __atomic_load_n(&representations, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&representations, &box->next, box, 0, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
  return box;
}

#define REGISTER(name, suffix, NULL_FN, NAMES_OF)                                                           \
  void name(char* datarep, Callback* read_fn, Callback* write_fn, Callback* extent_fn,                      \
            MPI_Aint* extra_state, int* ierror, size_t datarep_len) {                                       \
    Text datarep_;                                                                                          \
    text_from(&datarep_, datarep, datarep_len);                                                             \
    const int code =                                                                                        \
        PMPI_Register_datarep##suffix(datarep_.at, no_conversion(read_fn) ? NULL_FN : convert_read##suffix, \
                                      no_conversion(write_fn) ? NULL_FN : convert_write##suffix, extent,    \
                                      represent(read_fn, write_fn, extent_fn, *extra_state));               \
    text_free(&datarep_);                                                                                   \
    GIVE(ierror, code);                                                                                     \
  }                                                                                                         \
  NAMES_OF
REGISTER(pmpi_register_datarep_, , MPI_CONVERSION_FN_NULL, NAMES(register_datarep))
REGISTER(pmpi_register_datarep_c_f08_, _c, MPI_CONVERSION_FN_NULL_C, NAMES_LARGE(register_datarep_c))
