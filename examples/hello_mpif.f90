! SPDX-License-Identifier: BSD-3-Clause
! Every rank says who it is, with mpif.h.
program hello_mpif
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  print '(a, i0, a, i0)', 'rank ', rank, ' of ', size
  call MPI_Finalize(ierror)
end program
