/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_SIZEOF: the descriptor tells the size of an element, whatever its type. Layer: fortran. */
#include "fortran/library/support.h"

#include <ISO_Fortran_binding.h>

void starling_mpi_sizeof(CFI_cdesc_t* x, int* size, int* ierror) {
  *size = (int)x->elem_len;
  GIVE(ierror, MPI_SUCCESS);
}
