! SPDX-License-Identifier: BSD-3-Clause
! Routines and constants of MPI-1 that MPI 3.0 removed (MPI 2.2, 4.1, 8.3), which older programs still call.
#include "interface.inc"
module removed_handler
  implicit none
  integer :: calls = 0
contains
  subroutine count_call(comm, code)
    integer :: comm, code
    if (comm > 0 .and. code /= 0) calls = calls + 1
  end subroutine
end module

program removed
  use removed_handler
  FROM_MPI
  implicit none
  DECLARE_MPI
  integer :: ierror, rank, size, handler, found, type, kind_of(3), lengths(3), places(3), low, high, span
  integer :: status(MPI_STATUS_SIZE), numbers(3), others(3)
  double precision :: values(4)
  common /apart/ values, numbers

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  call MPI_Errhandler_create(count_call, handler, ierror)
  call expect(ierror, MPI_SUCCESS, 'MPI_Errhandler_create')
  call MPI_Errhandler_set(MPI_COMM_WORLD, handler, ierror)
  call MPI_Errhandler_get(MPI_COMM_WORLD, found, ierror)
  call expect(found, handler, 'the handler')
  call MPI_Send(numbers, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierror)
  call expect(calls, 1, 'calls of the handler')
  call MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)

  ! Displacements as the distance of two addresses.
  call MPI_Address(values, places(1), ierror)
  call MPI_Address(numbers, places(2), ierror)
  places(2) = places(2) - places(1)
  places(1) = 0
  places(3) = 64
  lengths = (/4, 3, 1/)
  kind_of = (/MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_UB/)
  call MPI_Type_struct(3, lengths, places, kind_of, type, ierror)
  call expect(ierror, MPI_SUCCESS, 'MPI_Type_struct')
  call MPI_Type_commit(type, ierror)
  call MPI_Type_extent(type, span, ierror)
  call expect(span, 64, 'extent')
  numbers = (/1, 2, 3/) + rank
  values = (/5d0, 6d0, 7d0, 8d0/)
  call MPI_Sendrecv(values, 1, type, mod(rank + 1, size), 0, others, 3, MPI_INTEGER, MPI_PROC_NULL, 0, &
    MPI_COMM_WORLD, status, ierror)
  numbers = 0
  values = 0
  call MPI_Recv(values, 1, type, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, status, ierror)
  call expect(all(numbers == (/1, 2, 3/) + mod(rank + size - 1, size)), 'the numbers')
  call expect(all(values == (/5d0, 6d0, 7d0, 8d0/)), 'the values')
  call MPI_Type_free(type, ierror)

  kind_of(1:2) = (/MPI_LB, MPI_INTEGER/)
  places(1:2) = (/-8, 4/)
  lengths = 1
  call MPI_Type_struct(2, lengths, places, kind_of, type, ierror)
  call MPI_Type_lb(type, low, ierror)
  call MPI_Type_ub(type, high, ierror)
  call expect(low, -8, 'lower bound')
  call expect(high, 8, 'upper bound')
  call MPI_Type_free(type, ierror)

  call MPI_Type_hvector(3, 1, 12, MPI_INTEGER, type, ierror)
  call MPI_Type_extent(type, span, ierror)
  call expect(span, 28, 'extent of the vector')
  call MPI_Type_free(type, ierror)
  lengths = (/1, 2, 1/)
  places = (/16, -8, 4/)
  call MPI_Type_hindexed(3, lengths, places, MPI_INTEGER, type, ierror)
  call MPI_Type_lb(type, low, ierror)
  call MPI_Type_ub(type, high, ierror)
  call expect(low, -8, 'lower bound of the blocks')
  call expect(high, 20, 'upper bound of the blocks')
  call MPI_Type_free(type, ierror)
  call MPI_Type_hindexed(0, lengths, places, MPI_INTEGER, type, ierror)
  call expect(ierror, MPI_SUCCESS, 'no blocks')
  call MPI_Type_extent(type, span, ierror)
  call expect(span, 0, 'extent of no blocks')
  call MPI_Type_free(type, ierror)

  ! What does not fit in an INTEGER.
  call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Type_hindexed(-1, lengths, places, MPI_INTEGER, type, ierror)
  call expect(ierror, MPI_ERR_COUNT, 'the error of a negative count')
  call MPI_Type_contiguous(huge(span), MPI_DOUBLE_PRECISION, type, ierror)
  span = -1
  call MPI_Type_extent(type, span, ierror)
  call expect(ierror, MPI_ERR_VALUE_TOO_LARGE, 'the error of an extent that is too large')
  call expect(span, -1, 'an extent that is too large')
  call MPI_Type_ub(type, high, ierror)
  call expect(ierror, MPI_ERR_VALUE_TOO_LARGE, 'the error of a bound that is too large')
  call MPI_Type_lb(type, low, ierror)
  call expect(ierror, MPI_SUCCESS, 'the bound that fits')
  call expect(low, 0, 'the bound that fits')
  call MPI_Type_free(type, ierror)
  call PMPI_Type_extent(MPI_DOUBLE_PRECISION, span, ierror)
  call expect(span, 8, 'extent of MPI_DOUBLE_PRECISION')
  call expect(MPI_COMBINER_HVECTOR_INTEGER /= MPI_COMBINER_HVECTOR, 'combiners')
  call MPI_Finalize(ierror)
end program
