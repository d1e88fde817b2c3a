/* SPDX-License-Identifier: BSD-3-Clause */
/* The C side of callbacks.F90: what C sees of Fortran's objects, and what it makes for Fortran. */
#include <mpi.h>
#include <stddef.h>

static int c_value = 77;
static int c_sum_calls;

/* Set from Fortran: C gets the address of an integer (MPI 5.0, 19.3.7). */
MPI_Aint c_reads_attribute(int comm, int keyval) {
  void* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_fromint(comm), keyval, &value, &flag);
  return flag ? *(MPI_Aint*)value : -1;
}

int c_makes_keyval(void) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  return keyval;
}

MPI_Aint c_sets_attribute(int comm, int keyval) {
  MPI_Comm_set_attr(MPI_Comm_fromint(comm), keyval, &c_value);
  return (MPI_Aint)&c_value;
}

static void add(void* in, void* inout, int* len, MPI_Datatype* datatype) {
  (void)datatype;
  ++c_sum_calls;
  for (int i = 0; i < *len; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int c_makes_op(void) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  return MPI_Op_toint(op);
}

/* C reduces with an operation made in Fortran. */
int c_reduces(int op, int a, int b) {
  MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_Op_fromint(op));
  return b;
}

int c_raises(int comm) { return MPI_Comm_call_errhandler(MPI_Comm_fromint(comm), MPI_ERR_TOPOLOGY); }

int c_completes(int request) { return MPI_Grequest_complete(MPI_Request_fromint(request)); }
