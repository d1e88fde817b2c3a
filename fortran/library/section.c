/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of sections, there and back. Layer: fortran. */
#include "fortran/library/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* allocate(size_t bytes) {
  char* const at = malloc(bytes);
  if (at == NULL) abort();
  return at;
}

/* Takes contiguous dimensions together, so that few runs are copied. */
void section_describe(Section* section, const CFI_cdesc_t* array) {
  section->base = array->base_addr;
  section->run = array->elem_len;
  section->rank = 0;
  section->bytes = array->elem_len;
  for (int i = 0; i < array->rank; ++i) {
    const CFI_index_t extent = array->dim[i].extent, stride = array->dim[i].sm;
    const int last = section->rank - 1;
    section->bytes *= (size_t)extent;
    if (extent == 1) continue;
    if (section->rank == 0 && stride == (CFI_index_t)section->run) {
      section->run *= (size_t)extent;
    } else if (section->rank > 0 && section->stride[last] * section->extent[last] == stride) {
      section->extent[last] *= extent;
    } else {
      section->extent[section->rank] = extent;
      section->stride[section->rank++] = stride;
    }
  }
}

/* What is done with each run: its place in the user's array, in the copy, and in the copy of before. */
typedef void Action(char* user, char* copy, char* before, size_t run);

static void take(char* user, char* copy, char* before, size_t run) {
  (void)before;
  memcpy(copy, user, run);
}

/* Bytes that the operation left alone may belong to another operation by now. */
static void bring_back(char* user, char* copy, char* before, size_t run) {
  if (memcmp(copy, before, run) == 0) return;
  for (size_t i = 0; i < run; ++i) {
    if (copy[i] != before[i]) user[i] = copy[i];
  }
  memcpy(before, copy, run);
}

/* A line of runs along the first dimension; runs of a number's size are copied by one instruction. */
static void take_line(const Section* section, char* user, char* copy) {
  const CFI_index_t count = section->extent[0], stride = section->stride[0];
  switch (section->run) {
    case 4:
      for (CFI_index_t i = 0; i < count; ++i) memcpy(copy + i * 4, user + i * stride, 4);
      break;
    case 8:
      for (CFI_index_t i = 0; i < count; ++i) memcpy(copy + i * 8, user + i * stride, 8);
      break;
    default:
      for (CFI_index_t i = 0; i < count; ++i)
        memcpy(copy + (size_t)i * section->run, user + i * stride, section->run);
  }
}

static void each_run(const Section* section, Action* action) {
  CFI_index_t index[CFI_MAX_RANK] = {0};
  char* user = section->base;
  const size_t line = section->run * (size_t)section->extent[0];
  for (size_t at = 0; at < section->bytes; at += line) {
    if (action == take) {
      take_line(section, user, section->copy + at);
    } else {
      for (CFI_index_t i = 0; i < section->extent[0]; ++i) {
        const size_t place = at + (size_t)i * section->run;
        action(user + i * section->stride[0], section->copy + place, section->before + place, section->run);
      }
    }
    for (int d = 1; d < section->rank; ++d) {
      user += section->stride[d];
      if (++index[d] < section->extent[d]) break;
      user -= section->stride[d] * section->extent[d];
      index[d] = 0;
    }
  }
}

HIDDEN void section_refresh(Section* section) {
  if (section->copy == NULL) return;
  each_run(section, take);
  if (section->before != NULL) memcpy(section->before, section->copy, section->bytes);
}

HIDDEN void section_collect(Section* section) {
  if (section->before != NULL) each_run(section, bring_back);
}

HIDDEN void section_free(Section* section) {
  free(section->copy);
  free(section->before);
  section->copy = section->before = NULL;
}

void* section_open(Section* section, const CFI_cdesc_t* array, Use use) {
  section->copy = section->before = NULL;
  if (is_contiguous(array)) return array->base_addr;
  section_describe(section, array);
  section->copy = allocate(section->bytes);
  if (use == kWrites) section->before = allocate(section->bytes);
  section_refresh(section);
  return section->copy;
}

void section_close(Section* section) {
  section_collect(section);
  section_free(section);
}

int must_be_contiguous(const char* routine) {
  fprintf(stderr,
          "libmpifort_abi: %s got an array section that is not contiguous, but MPI keeps the memory after "
          "the call; "
          "give it a contiguous array\n",
          routine);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}
