/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings: Fortran's are padded with blanks, C's end with a zero (MPI 5.0, 19.3.9). Layer: fortran. */
#include "fortran/library/support.h"

#include <stdlib.h>
#include <string.h>

size_t text_length(const char* from, size_t length) {
  while (length > 0 && from[length - 1] == ' ') --length;
  return length;
}

void text_from(Text* text, const char* from, size_t length) {
  length = text_length(from, length);
  text->at = length < sizeof text->few ? text->few : malloc(length + 1);
  if (text->at == NULL) abort();
  memcpy(text->at, from, length);
  text->at[length] = '\0';
}

void info_text_from(Text* text, const char* from, size_t length) {
  for (; length > 0 && *from == ' '; --length) ++from;
  text_from(text, from, length);
}

void text_free(Text* text) {
  if (text->at != text->few) free(text->at);
}

void text_to(char* to, size_t length, const char* from) {
  const size_t used = strnlen(from, length);
  memcpy(to, from, used);
  memset(to + used, ' ', length - used);
}
