/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that are not contiguous, as buffers of mpi_f08. Layer: fortran. Design: docs/design/fortran.md.
 *
 * MPI 5.0, 19.1.12: the call works on the elements of the section in array order, as if they were
 * contiguous. So they are copied to memory that is, the call gets that, and what the call has changed in
 * it is copied back: at once, or when the request completes.
 *
 * Threads: a section belongs to one call; the sections of requests are kept under a lock. Ownership: a
 * section owns its copy; the user's array is borrowed until the operation completes, as MPI says. */
#ifndef STARLING_FORTRAN_SECTION_H
#define STARLING_FORTRAN_SECTION_H

#include <ISO_Fortran_binding.h>

#include "fortran/library/support.h"

enum { kSections = 3 }; /* buffers of one call */

typedef struct {
  char* base;
  size_t run; /* bytes that are contiguous in the user's array */
  int rank;   /* of the runs */
  CFI_index_t extent[CFI_MAX_RANK], stride[CFI_MAX_RANK];
  size_t bytes;
  char* copy;
  char* before; /* what the copy held when the call began; null where the call does not write */
} Section;

typedef enum { kReads, kWrites } Use;

static inline int is_contiguous(const CFI_cdesc_t* array) {
  CFI_index_t bytes = (CFI_index_t)array->elem_len;
  for (int i = 0; i < array->rank; ++i) {
    const CFI_index_t extent = array->dim[i].extent;
    if (extent == -1 || extent == 0) return 1; /* assumed size, which is contiguous; or nothing at all */
    if (extent != 1 && array->dim[i].sm != bytes) return 0;
    bytes *= extent;
  }
  return 1;
}

/* The runs of the array, without a copy. */
HIDDEN void section_describe(Section* section, const CFI_cdesc_t* array);
/* Whether `count` elements of a large array may go as one element of a datatype, which is made then. */
HIDDEN int section_type(const CFI_cdesc_t* array, int count, int datatype, int* made);
HIDDEN void section_type_free(int made);
/* Where the call shall look: the array itself, or a copy. */
HIDDEN void* section_open(Section* section, const CFI_cdesc_t* array, Use use);
/* Copies back what has changed, and frees the copy. */
HIDDEN void section_close(Section* section);
/* The call failed, or will go on: the sections belong to the request, and to `file` or a null handle. */
HIDDEN void sections_keep(Section* sections, int code, int request, int persistent);
/* Split collective file access: kept under the file's handle, and found again by the call that ends it. */
HIDDEN void sections_keep_file(Section* sections, int code, int file);
HIDDEN void* sections_of_file(int file, void* array);
HIDDEN void sections_end_file(int file);
/* An array that cannot be a section, since it outlives the call: the error's code. */
HIDDEN int must_be_contiguous(const char* routine);

#endif
