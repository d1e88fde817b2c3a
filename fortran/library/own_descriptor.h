/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor that gfortran 9 to 15 hand to a procedure that is not BIND(C). Layer: fortran.
 *
 * To make the standard's descriptor of it costs some fifty instructions. It is needed only where an array is
 * not in one piece. */
#ifndef STARLING_FORTRAN_OWN_DESCRIPTOR_H
#define STARLING_FORTRAN_OWN_DESCRIPTOR_H

#include <stddef.h>

typedef struct {
  void* base;
  size_t offset;
  size_t element; /* bytes */
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span; /* bytes from one element to the next of stride 1 */
  struct {
    ptrdiff_t stride, lower, upper; /* the upper bound of an assumed size says nothing */
  } dimension[15];
} OwnArray;

static __attribute__((noinline)) int are_dense(const OwnArray* array) {
  ptrdiff_t expected = 1;
  for (int i = 1; i < array->rank; ++i) {
    expected *= array->dimension[i - 1].upper - array->dimension[i - 1].lower + 1;
    if (array->dimension[i].stride != expected) return 0;
  }
  return 1;
}

/* One dimension, one element behind the other. */
static inline int is_row(const OwnArray* array) {
  return array->rank == 1 && array->span == (ptrdiff_t)array->element && array->dimension[0].stride == 1;
}

/* Never true for an array that is not; an odd one that is may be missed. */
static inline int is_one_piece(const OwnArray* array) {
  if (array->rank == 0) return 1;
  if (array->span != (ptrdiff_t)array->element || array->dimension[0].stride != 1) return 0;
  return array->rank == 1 || are_dense(array);
}

#endif
