/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines of MPI-1 that MPI 3.0 removed, for mpif.h and the module mpi: what include/starling_mpi_old.h is
 * for C. Layer: fortran.
 *
 * Addresses and displacements are default INTEGERs here. An address is given modulo 2^32: the distance of two
 * that are less than 2 GiB apart comes out right, which is what displacements are made of. */
#include "fortran/library/support.h"

#include <limits.h>
#include <stdlib.h>

void pmpi_comm_create_errhandler_(Callback* fn, int* errhandler, int* ierror);

void pmpi_address_(void* location, int* address, int* ierror) {
  MPI_Aint whole = 0;
  const int code = PMPI_Get_address(buffer_of(location), &whole);
  if (code == MPI_SUCCESS) *address = (int)(unsigned)whole;
  GIVE(ierror, code);
}
NAMES_F90(address)

void pmpi_errhandler_create_(Callback* function, int* errhandler, int* ierror) {
  pmpi_comm_create_errhandler_(function, errhandler, ierror);
}
NAMES_F90(errhandler_create)

void pmpi_errhandler_get_(int* comm, int* errhandler, int* ierror) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  const int code = PMPI_Comm_get_errhandler(comm_from(*comm), &found);
  if (code == MPI_SUCCESS) *errhandler = errhandler_to(found);
  GIVE(ierror, code);
}
NAMES_F90(errhandler_get)

void pmpi_errhandler_set_(int* comm, int* errhandler, int* ierror) {
  const int code = PMPI_Comm_set_errhandler(comm_from(*comm), errhandler_from(*errhandler));
  GIVE(ierror, code);
}
NAMES_F90(errhandler_set)

/* What does not fit in an INTEGER is an error as it is in C. */
static int narrow(MPI_Aint value, int* result) {
  if (value < INT_MIN || value > INT_MAX) {
    (void)PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_VALUE_TOO_LARGE);
    return MPI_ERR_VALUE_TOO_LARGE;
  }
  *result = (int)value;
  return MPI_SUCCESS;
}

#define BOUND(name, result, expression)                                  \
  void pmpi_##name##_(int* datatype, int* result, int* ierror) {         \
    MPI_Aint lb = 0, extent = 0;                                         \
    int code = PMPI_Type_get_extent(type_from(*datatype), &lb, &extent); \
    if (code == MPI_SUCCESS) code = narrow(expression, result);          \
    GIVE(ierror, code);                                                  \
  }                                                                      \
  NAMES_F90(name)
BOUND(type_extent, result, extent)
BOUND(type_lb, result, lb)
BOUND(type_ub, result, PMPI_Aint_add(lb, extent))

void pmpi_type_hvector_(int* count, int* blocklength, int* stride, int* oldtype, int* newtype, int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int code = PMPI_Type_create_hvector(*count, *blocklength, *stride, type_from(*oldtype), &made);
  if (code == MPI_SUCCESS) *newtype = type_to(made);
  GIVE(ierror, code);
}
NAMES_F90(type_hvector)

/* Displacements as C has them; null for none, which the C function takes where there are none. */
static MPI_Aint* widened(int count, const int* displacements) {
  if (count <= 0) return NULL;
  MPI_Aint* const wide = malloc((size_t)count * sizeof *wide);
  if (wide == NULL) abort();
  for (int i = 0; i < count; ++i) wide[i] = displacements[i];
  return wide;
}

void pmpi_type_hindexed_(int* count, int* blocklengths, int* displacements, int* oldtype, int* newtype,
                         int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Aint* const wide = widened(*count, displacements);
  const int code = PMPI_Type_create_hindexed(*count, blocklengths, wide, type_from(*oldtype), &made);
  free(wide);
  if (code == MPI_SUCCESS) *newtype = type_to(made);
  GIVE(ierror, code);
}
NAMES_F90(type_hindexed)

/* Starling's MPI_Type_create_struct knows MPI_LB and MPI_UB. */
void pmpi_type_struct_(int* count, int* blocklengths, int* displacements, int* types, int* newtype,
                       int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Aint* const wide = widened(*count, displacements);
  MPI_Datatype* const old = wide == NULL ? NULL : malloc((size_t)*count * sizeof *old);
  if (wide != NULL && old == NULL) abort();
  for (int i = 0; old != NULL && i < *count; ++i) old[i] = type_from(types[i]);
  const int code = PMPI_Type_create_struct(*count, blocklengths, wide, old, &made);
  free(old);
  free(wide);
  if (code == MPI_SUCCESS) *newtype = type_to(made);
  GIVE(ierror, code);
}
NAMES_F90(type_struct)
