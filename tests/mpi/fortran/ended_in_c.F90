! SPDX-License-Identifier: BSD-3-Clause
! Requests with sections, and others that get the same handle after them: what C has completed does not come back with
! a later one, and what is being completed here comes back though another one has the handle already.
module requests_of_one_handle
  use mpi_f08
  use check
  use iso_c_binding, only: C_INT
  implicit none
  interface
    integer(C_INT) function c_waits(request) bind(C)
      import C_INT
      integer(C_INT), value :: request
    end function
    ! Within the next call of PMPI_Wait, when the request is complete, start_next is called.
    subroutine start_next_in_wait() bind(C)
    end subroutine
  end interface
  integer, target :: first(20), second(20)
  type(MPI_Request) :: next
  integer :: handle_of_next
  logical :: next_is_section, next_ends_there = .false.
contains
  subroutine begin_first(request)
    type(MPI_Request), intent(out) :: request
    first = 0
    call MPI_Irecv(first(1:20:2), 10, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Send(spread(5, 1, 10), 10, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  end subroutine

  subroutine start_next() bind(C)
    second = 0
    if (next_is_section) then
      call MPI_Irecv(second(2:20:2), 10, MPI_INTEGER, 0, 2, MPI_COMM_SELF, next)
    else
      call MPI_Irecv(second(11:20), 10, MPI_INTEGER, 0, 2, MPI_COMM_SELF, next)
    end if
    if (next_ends_there) then  ! as in a thread that is through with it before the first one is settled
      handle_of_next = next%MPI_VAL
      call complete_next
    end if
  end subroutine

  subroutine complete_next
    call MPI_Send(spread(20, 1, 10), 10, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Wait(next, MPI_STATUS_IGNORE)
    call expect_equal(count(second == 20), 10, 'elements of the next request')
  end subroutine

  ! Whether the next request got the handle of the first one.
  logical function completed_by_c()
    type(MPI_Request) :: request
    call begin_first(request)
    call expect_equal(c_waits(request%MPI_VAL), MPI_SUCCESS, 'waiting in C')
    first = 7
    call start_next
    completed_by_c = next%MPI_VAL == request%MPI_VAL
    call complete_next
    call expect_true(all(first == 7), 'an array whose request has ended in C')
  end function

  logical function completed_here()
    type(MPI_Request) :: request
    integer :: handle
    call begin_first(request)
    handle = request%MPI_VAL
    call start_next_in_wait
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (.not. next_ends_there) handle_of_next = next%MPI_VAL
    completed_here = handle_of_next == handle
    call expect_equal(count(first == 5), 10, 'elements of the request that was being completed')
    if (.not. next_ends_there) call complete_next
  end function
end module

program ended_in_c
  use requests_of_one_handle
  implicit none
  integer :: same, way
  call MPI_Init()
  do way = 0, 5
    next_is_section = btest(way, 0)
    next_ends_there = way >= 4
    same = 0
    do while (same < 3)
      if (way >= 2) then
        if (completed_here()) same = same + 1
      else
        if (completed_by_c()) same = same + 1
      end if
    end do
  end do
  call MPI_Finalize()
end program
