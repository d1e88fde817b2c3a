/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions of the double share: which one is expected now, and what they answer. Layer: test. */
#ifndef STARLING_TESTS_FORTRAN_DOUBLE_H
#define STARLING_TESTS_FORTRAN_DOUBLE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int code; /* that the function gives back */

/* Whether this is the function that Fortran has just called. */
int is_called(int number);
/* The n-th buffer of the call. */
const void* buffer_at(int n);
/* "w0", "w1" and, behind them, anything or the end. */
int are_words(char* const* words);
void is_wrong(const char* function, const char* argument);

#define CHECK(condition, argument)                  \
  do {                                              \
    if (!(condition)) is_wrong(__func__, argument); \
  } while (0)

#endif
