! SPDX-License-Identifier: BSD-3-Clause
! A status goes between C and Fortran in all directions (MPI 5.0, 19.3.5).
#include "interface.inc"
module status_in_c
  implicit none
  interface
    integer function c_converts(way, from, to) bind(C)
      integer, value :: way
      type(*) :: from(*), to(*)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: from, to
!DIR$ IGNORE_TKR from, to
    end function
    integer function c_counts(from) bind(C)
      type(*) :: from(*)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: from
!DIR$ IGNORE_TKR from
    end function
    integer function c_knows(status) bind(C)
      type(*) :: status(*)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: status
!DIR$ IGNORE_TKR status
    end function
  end interface
end module

program status
  FROM_MPI
  use status_in_c
  implicit none
  DECLARE_MPI
  integer, parameter :: words = 8
  integer :: ierror, way, back(words), sent(3) = [1, 2, 3], got(4)
  STATUS :: state

  call MPI_Init(ierror)
  call MPI_Sendrecv(sent, 3, MPI_INTEGER, 0, 17, got, 4, MPI_INTEGER, 0, 17, MPI_COMM_SELF, state, ierror)
  ! C reads what Fortran has received, and Fortran what C has made of it.
  call expect(c_counts(state), 3, 'count in C')
  do way = 0, 3
    back = -7
    call expect(c_converts(way, state, back), MPI_SUCCESS, 'conversion')
    call check_words(back)
  end do
#ifndef TEST_MPIF
  call from_fortran
#endif
  ! C knows Fortran's sentinels, and refuses to convert them.
  call expect(c_knows(MPI_STATUS_IGNORE), 1, 'MPI_STATUS_IGNORE in C')
  call expect(c_knows(MPI_STATUSES_IGNORE), 2, 'MPI_STATUSES_IGNORE in C')
  call expect(c_knows(state), 0, 'a status in C')
  do way = 0, 3
    call expect(c_converts(way, MPI_STATUS_IGNORE, back), MPI_ERR_ARG, 'conversion of MPI_STATUS_IGNORE')
    call expect(c_converts(way, state, MPI_STATUSES_IGNORE), MPI_ERR_ARG, 'conversion to MPI_STATUSES_IGNORE')
  end do
  call MPI_Finalize(ierror)
contains
  subroutine check_words(array)
    integer, intent(in) :: array(words)
    integer :: value(words)
    value = transfer(state, value)
    call expect(all(array == value), 'all that the status holds')
    call expect(array(1), 0, 'source')
    call expect(array(2), 17, 'tag')
  end subroutine

#ifndef TEST_MPIF
  subroutine from_fortran
    type(MPI_Status) :: named
    integer :: array(MPI_STATUS_SIZE)
#ifdef TEST_F08
    call MPI_Status_f082f(state, array)
#else
    array = state
#endif
    call check_words(array)
    call MPI_Status_f2f08(array, named, ierror)
    call expect(named%MPI_TAG, 17, 'tag of the named status')
    call check_words(transfer(named, array))
    array = -7
    call PMPI_Status_f082f(named, array, ierror)
    call check_words(array)
  end subroutine
#endif
end program
