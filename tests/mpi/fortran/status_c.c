/* SPDX-License-Identifier: BSD-3-Clause */
/* The C side of status.F90. */
#include <mpi.h>

/* Way 0 goes from an array to an array by a named status, way 1 the other way round; ways 2 and 3 by C. */
int c_converts(int way, const void* from, void* to) {
  MPI_F08_status named;
  MPI_Fint array[MPI_F_STATUS_SIZE];
  MPI_Status c;
  int code;
  switch (way) {
    case 0:
      code = MPI_Status_f2f08(from, &named);
      return code != MPI_SUCCESS ? code : MPI_Status_f082f(&named, to);
    case 1:
      code = MPI_Status_f082f(from, array);
      return code != MPI_SUCCESS ? code : MPI_Status_f2f08(array, to);
    case 2: code = MPI_Status_f2c(from, &c); return code != MPI_SUCCESS ? code : MPI_Status_c2f08(&c, to);
    default: code = MPI_Status_f082c(from, &c); return code != MPI_SUCCESS ? code : MPI_Status_c2f(&c, to);
  }
}

int c_counts(const void* from) {
  MPI_Status c;
  int count = -1;
  MPI_Status_f2c(from, &c);
  MPI_Get_count(&c, MPI_INT, &count);
  return count;
}

/* 1 and 2: Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, which are the same in all interfaces. */
int c_knows(const void* status) {
  if (status == MPI_F_STATUS_IGNORE && status == MPI_F08_STATUS_IGNORE) return 1;
  return status == MPI_F_STATUSES_IGNORE && status == MPI_F08_STATUSES_IGNORE ? 2 : 0;
}
