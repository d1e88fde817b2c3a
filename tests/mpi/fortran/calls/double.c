/* SPDX-License-Identifier: BSD-3-Clause */
/* The hand-written part of the double: what the Fortran program sets and asks, and conversions of handles. */
#include "tests/mpi/fortran/calls/double.h"

int code;
static int expected, calls, wrong;
static const int* buffers;

int is_called(int number) { return number == expected ? ++calls : 0; }

const void* buffer_at(int n) { return buffers + 100 * n; }

int are_words(char* const* words) {
  return words != NULL && strcmp(words[0], "w0") == 0 && strcmp(words[1], "w1") == 0;
}

void is_wrong(const char* function, const char* argument) {
  ++wrong;
  fprintf(stderr, "%s got something else for %s\n", function, argument);
}

/* For Fortran. */
void double_buffers(const int* at) { buffers = at; }
void double_expects(int number, int answer) {
  expected = number;
  code = answer;
  calls = 0;
}
int double_calls(void) { return calls; }
int double_wrong(void) { return wrong; }

/* Fortran's integers and C's handles differ, so that a conversion that is left out is seen. */
#define CONVERSIONS(Kind, Type)                                                          \
  Type PMPI_##Kind##_fromint(int value) { return (Type)(intptr_t)(value + 0x10000000); } \
  int PMPI_##Kind##_toint(Type handle) { return (int)((intptr_t)handle - 0x10000000); }
CONVERSIONS(Comm, MPI_Comm)
CONVERSIONS(Type, MPI_Datatype)
CONVERSIONS(Errhandler, MPI_Errhandler)
CONVERSIONS(File, MPI_File)
CONVERSIONS(Group, MPI_Group)
CONVERSIONS(Info, MPI_Info)
CONVERSIONS(Message, MPI_Message)
CONVERSIONS(Op, MPI_Op)
CONVERSIONS(Request, MPI_Request)
CONVERSIONS(Session, MPI_Session)
CONVERSIONS(Win, MPI_Win)
