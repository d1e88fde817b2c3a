/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 6.9.2: which operation takes which kind of type, and MPI_ERR_OP for the others. np: 1 */
#include "check.h"

enum Kind { kInteger, kFloating, kLogical, kComplex, kByte, kMulti, kCharacter, kKinds };

static const struct {
  const char* name;
  MPI_Op op;
  int takes[kKinds]; /* C integer, floating, logical, complex, byte, multi-language, character */
} kOps[] = {
    {"MAX", MPI_MAX, {1, 1, 0, 0, 0, 1, 0}},       {"MIN", MPI_MIN, {1, 1, 0, 0, 0, 1, 0}},
    {"SUM", MPI_SUM, {1, 1, 0, 1, 0, 1, 0}},       {"PROD", MPI_PROD, {1, 1, 0, 1, 0, 1, 0}},
    {"LAND", MPI_LAND, {1, 0, 1, 0, 0, -1, 0}},    {"LOR", MPI_LOR, {1, 0, 1, 0, 0, -1, 0}},
    {"LXOR", MPI_LXOR, {1, 0, 1, 0, 0, -1, 0}},    {"BAND", MPI_BAND, {1, 0, -1, 0, 1, 1, 0}},
    {"BOR", MPI_BOR, {1, 0, -1, 0, 1, 1, 0}},      {"BXOR", MPI_BXOR, {1, 0, -1, 0, 1, 1, 0}},
    {"MAXLOC", MPI_MAXLOC, {0, 0, 0, 0, 0, 0, 0}}, {"MINLOC", MPI_MINLOC, {0, 0, 0, 0, 0, 0, 0}},
};

/* The operation takes the type, or refuses it and leaves the result alone; -1: not said. */
static void check_pair(unsigned op, const char* type_name, MPI_Datatype type, int taken) {
  long double in[8] = {0}, inout[8] = {0}, before[8] = {0};
  int code;
  if (taken < 0) return;
  code = MPI_Reduce_local(in, inout, 1, type, kOps[op].op);
  if ((code == MPI_SUCCESS) != taken) {
    fprintf(stderr, "MPI_%s of %s: %s\n", kOps[op].name, type_name, taken ? "refused" : "taken");
    check_fail(__FILE__, __LINE__, "an operation and a type");
  }
  if (!taken) CHECK_EQ(check_class(code), MPI_ERR_OP);
  if (!taken) CHECK(memcmp(inout, before, sizeof before) == 0);
}

#define TYPE(kind, type) \
  { kind, #type, type }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  const struct {
    enum Kind kind;
    const char* name;
    MPI_Datatype type;
  } types[] = {
      TYPE(kInteger, MPI_CHAR), /* as text not for reductions; everybody takes it as a number */
      TYPE(kInteger, MPI_SIGNED_CHAR),
      TYPE(kInteger, MPI_UNSIGNED_CHAR),
      TYPE(kInteger, MPI_SHORT),
      TYPE(kInteger, MPI_INT),
      TYPE(kInteger, MPI_LONG),
      TYPE(kInteger, MPI_LONG_LONG),
      TYPE(kInteger, MPI_UNSIGNED_SHORT),
      TYPE(kInteger, MPI_UNSIGNED),
      TYPE(kInteger, MPI_UNSIGNED_LONG),
      TYPE(kInteger, MPI_INT8_T),
      TYPE(kInteger, MPI_INT64_T),
      TYPE(kInteger, MPI_UINT8_T),
      TYPE(kInteger, MPI_UINT16_T),
      TYPE(kFloating, MPI_FLOAT),
      TYPE(kFloating, MPI_DOUBLE),
      TYPE(kFloating, MPI_LONG_DOUBLE),
      TYPE(kLogical, MPI_C_BOOL),
      TYPE(kComplex, MPI_C_FLOAT_COMPLEX),
      TYPE(kComplex, MPI_C_DOUBLE_COMPLEX),
      TYPE(kByte, MPI_BYTE),
      TYPE(kMulti, MPI_AINT),
      TYPE(kMulti, MPI_OFFSET),
      TYPE(kMulti, MPI_COUNT),
      TYPE(kCharacter, MPI_WCHAR),
  };
  for (unsigned t = 0; t < sizeof types / sizeof *types; ++t)
    for (unsigned op = 0; op < sizeof kOps / sizeof *kOps; ++op)
      check_pair(op, types[t].name, types[t].type, kOps[op].takes[types[t].kind]);
  return finish();
}
