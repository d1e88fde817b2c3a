/* SPDX-License-Identifier: BSD-3-Clause */
/* Detaching buffers: mpi_f08 gets the address; in mpi and mpif.h the argument is not used (MPI 5.0, 3.6).
 * Layer: fortran. */
#include "fortran/library/support.h"

#define DETACH(name, Name, PARAMETERS, OBJECT)                                             \
  void pmpi_##name##_(PARAMETERS void* buffer_addr, int* size, int* ierror) {              \
    void* old = NULL;                                                                      \
    (void)buffer_addr;                                                                     \
    const int code = PMPI_##Name(OBJECT & old, size);                                      \
    GIVE(ierror, code);                                                                    \
  }                                                                                        \
  NAMES_F90(name)                                                                          \
  void pmpi_##name##_f08_(PARAMETERS void** buffer_addr, int* size, int* ierror) {         \
    const int code = PMPI_##Name(OBJECT buffer_addr, size);                                \
    GIVE(ierror, code);                                                                    \
  }                                                                                        \
  NAMES_LARGE(name)                                                                        \
  void pmpi_##name##_c_f08_(PARAMETERS void** buffer_addr, MPI_Count* size, int* ierror) { \
    const int code = PMPI_##Name##_c(OBJECT buffer_addr, size);                            \
    GIVE(ierror, code);                                                                    \
  }                                                                                        \
  NAMES_LARGE(name##_c)

#define NOTHING
#define COMM_PARAMETER int *comm,
#define SESSION_PARAMETER int *session,
#define COMM_OBJECT comm_from(*comm),
#define SESSION_OBJECT session_from(*session),
DETACH(buffer_detach, Buffer_detach, NOTHING, NOTHING)
DETACH(comm_detach_buffer, Comm_detach_buffer, COMM_PARAMETER, COMM_OBJECT)
DETACH(session_detach_buffer, Session_detach_buffer, SESSION_PARAMETER, SESSION_OBJECT)
