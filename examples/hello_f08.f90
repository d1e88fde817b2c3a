! SPDX-License-Identifier: BSD-3-Clause
! Every rank says who it is, with the module mpi_f08; the even numbers of an array go around.
program hello_f08
  use mpi_f08
  implicit none
  integer :: rank, size, numbers(10), i
  type(MPI_Request) :: request
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  numbers = [(100 * rank + i, i = 1, 10)]
  call MPI_Isend(numbers(2:10:2), 5, MPI_INTEGER, modulo(rank + 1, size), 0, MPI_COMM_WORLD, request)
  call MPI_Recv(numbers(1:9:2), 5, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print '(a, i0, a, i0, a, 10i5)', 'rank ', rank, ' of ', size, ' has', numbers
  call MPI_Finalize
end program
