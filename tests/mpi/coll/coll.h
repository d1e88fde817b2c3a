/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collective programs share: the three forms of a call, counts, values, an operation that does not
 * commute.
 *
 * RUN(form, Bcast, bcast, arguments...) makes the call in one of its forms and waits for it. The persistent
 * form exists from MPI-4 on. */
#ifndef STARLING_TESTS_MPI_COLL_H
#define STARLING_TESTS_MPI_COLL_H

#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT };

#if MPI_VERSION >= 4
#define FORMS 3
#define RUN_PERSISTENT(name, ...)                             \
  do {                                                        \
    MPI_Request run_;                                         \
    OK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &run_)); \
    OK(MPI_Start(&run_));                                     \
    OK(MPI_Wait(&run_, MPI_STATUS_IGNORE));                   \
    OK(MPI_Request_free(&run_));                              \
  } while (0)
#else
#define FORMS 2
#define RUN_PERSISTENT(name, ...) check_fail(__FILE__, __LINE__, "no persistent collectives")
#endif

#define RUN(form, name, iname, ...)            \
  do {                                         \
    if ((form) == BLOCKING) {                  \
      OK(MPI_##name(__VA_ARGS__));             \
    } else if ((form) == NONBLOCKING) {        \
      MPI_Request wait_;                       \
      OK(MPI_I##iname(__VA_ARGS__, &wait_));   \
      OK(MPI_Wait(&wait_, MPI_STATUS_IGNORE)); \
    } else {                                   \
      RUN_PERSISTENT(name, __VA_ARGS__);       \
    }                                          \
  } while (0)

/* From nothing to beyond every eager limit; around the sizes at which algorithms change. */
static const int kCounts[] = {0, 1, 7, 600, 5000, 80001};
#define COUNTS ((int)(sizeof kCounts / sizeof *kCounts))

/* What `rank` contributes at `index`. */
static int CHECK_UNUSED value_of(int rank, int index) { return rank * 1009 + index * 31 + 1; }

static CHECK_UNUSED int* ints(long count) {
  int* const memory = malloc(sizeof(int) * (size_t)(count + 1));
  CHECK(memory != NULL);
  for (long i = 0; i <= count; ++i) memory[i] = -77;
  return memory;
}
/* The element behind the last one is still what ints() left there. */
#define UNTOUCHED(memory, count) CHECK_EQ((memory)[count], -77)

/* Composition of v -> a v + b, modulo 2^32: associative, not commutative. MPI_2INT holds (a, b). */
typedef struct {
  unsigned a, b;
} Affine;

static Affine CHECK_UNUSED affine_of(int rank, int index) {
  const Affine value = {(unsigned)(2 * rank + index) * 2654435761u | 1u,
                        (unsigned)(rank * 7 + index * 13 + 5)};
  return value;
}
static Affine CHECK_UNUSED then(Affine x, Affine y) {
  const Affine result = {x.a * y.a, x.b * y.a + y.b};
  return result;
}
static void CHECK_UNUSED compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Affine* const x = in;
  Affine* const y = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) y[i] = then(x[i], y[i]);
}
/* The composition of ranks first..last in order. */
static Affine CHECK_UNUSED composed(int first, int last, int index) {
  Affine result = affine_of(first, index);
  for (int rank = first + 1; rank <= last; ++rank) result = then(result, affine_of(rank, index));
  return result;
}
#define CHECK_AFFINE(got, want)                \
  do {                                         \
    const Affine got_ = (got), want_ = (want); \
    CHECK_EQ(got_.a, want_.a);                 \
    CHECK_EQ(got_.b, want_.b);                 \
  } while (0)

/* Every other int: a type with holes, committed. */
static MPI_Datatype CHECK_UNUSED spread_int(void) {
  MPI_Datatype type;
  count_t lengths[1] = {1};
  MPI_Aint at[1] = {4};
  MPI_Datatype parts[1] = {MPI_INT}, shifted;
  OK(MPI_Type_create_struct(1, lengths, at, parts, &shifted));
  OK(MPI_Type_create_resized(shifted, 0, 8, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Type_free(&shifted));
  return type;
}

#endif
