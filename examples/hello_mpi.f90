! SPDX-License-Identifier: BSD-3-Clause
! Every rank says who it is, with the module mpi.
program hello_mpi
  use mpi
  implicit none
  integer :: rank, size, length, ierror
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Get_processor_name(host, length, ierror)
  print '(a, i0, a, i0, 2a)', 'rank ', rank, ' of ', size, ' on ', host(1:length)
  call MPI_Finalize(ierror)
end program
