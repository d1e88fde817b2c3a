! SPDX-License-Identifier: BSD-3-Clause
! Arrays in one piece and others, as the compiler describes them: what MPI_Send, MPI_Isend, MPI_Recv and MPI_Irecv take
! directly must be in one piece (fortran/library/own_descriptor.h).
#define SENT(buffer, n, type, want) \
  call begin; call MPI_Send(buffer, n, type, 0, 0, MPI_COMM_SELF); call same(want, __LINE__); \
  call begin; call MPI_Isend(buffer, n, type, 0, 0, MPI_COMM_SELF, other); call MPI_Wait(other, MPI_STATUS_IGNORE); \
  call same(want, __LINE__)
#define RECEIVED(buffer, n, type, all_of_it) \
  call send_new(n, type); call MPI_Recv(buffer, n, type, 0, 0, MPI_COMM_SELF, state); call landed(pack4(all_of_it), [buffer], __LINE__); \
  call send_new(n, type); call MPI_Irecv(buffer, n, type, 0, 0, MPI_COMM_SELF, other); \
  call MPI_Wait(other, state); call landed(pack4(all_of_it), [buffer], __LINE__)
program shapes
  use mpi_f08
  use check
  implicit none
  type point
    integer :: x, y, z
  end type
  type(point), asynchronous :: points(6)
  integer, asynchronous :: grid(4, 5), cube(3, 4, 5), got(60), fresh(60)
  integer :: i, turn = 0
  character(len=4) :: words(3) = ['abcd', 'efgh', 'ijkl']
  type(MPI_Request) :: request, other
  type(MPI_Status) :: state

  call MPI_Init
  points = [(point(i, 10 + i, 20 + i), i = 1, 6)]
  grid = reshape([(i, i = 1, 20)], [4, 5])
  cube = reshape([(i, i = 1, 60)], [3, 4, 5])

  SENT(grid, 20, MPI_INTEGER, ([(i, i = 1, 20)]))
  SENT(grid(:, 2:4), 12, MPI_INTEGER, ([(i, i = 5, 16)]))
  SENT(grid(2:3, :), 10, MPI_INTEGER, ([grid(2:3, :)]))
  SENT(grid(:, ::2), 12, MPI_INTEGER, ([grid(:, ::2)]))
  SENT(grid(:, 5:1:-1), 20, MPI_INTEGER, ([grid(:, 5:1:-1)]))
  SENT(grid(4:1:-1, 1), 4, MPI_INTEGER, ([4, 3, 2, 1]))
  SENT(grid(3, 2:2), 1, MPI_INTEGER, ([7]))
  SENT(grid(3, 2), 1, MPI_INTEGER, ([7]))
  SENT(cube(:, :, 2:3), 24, MPI_INTEGER, ([(i, i = 13, 36)]))
  SENT(cube(:, 2, :), 15, MPI_INTEGER, ([cube(:, 2, :)]))
  SENT(cube(:, 2:3, 4:4), 6, MPI_INTEGER, ([cube(:, 2:3, 4)]))
  SENT(cube(2:2, :, :), 20, MPI_INTEGER, ([cube(2, :, :)]))
  SENT(points%y, 6, MPI_INTEGER, ([(10 + i, i = 1, 6)]))
  SENT(points(2:6:2)%z, 3, MPI_INTEGER, ([22, 24, 26]))
  SENT(words, 12, MPI_CHARACTER, (transfer(words, [1])))
  call assumed_size(grid, 20)
  call assumed_shape(grid(:, 2:5))
  call assumed_shape(grid(1:3, 2:5))

  RECEIVED(grid(:, 2:4), 12, MPI_INTEGER, (grid))
  RECEIVED(grid(2:3, :), 10, MPI_INTEGER, (grid))
  RECEIVED(grid(4:1:-1, 1), 4, MPI_INTEGER, (grid))
  RECEIVED(cube(:, 2, :), 15, MPI_INTEGER, (cube))
  call large
  call MPI_Finalize
contains
  ! What is sent to this process itself arrives in `got`.
  subroutine begin
    got = -1
    call MPI_Irecv(got, 60, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
  end subroutine

  subroutine same(want, place)
    integer, intent(in) :: want(:), place
    character(len=20) :: line
    call MPI_Wait(request, state)
    write (line, "(a, i0)") "line ", place
    call expect(all(got(1:size(want)) == want), trim(line))
  end subroutine

  subroutine send_new(n, datatype)
    integer, intent(in) :: n
    type(MPI_Datatype), intent(in) :: datatype
    turn = turn + 100
    fresh = [(turn + i, i = 1, 60)]
    call MPI_Isend(fresh, n, datatype, 0, 0, MPI_COMM_SELF, request)
    call MPI_Request_free(request)
  end subroutine

  ! All elements, in a row: those beside the section are below 100, or of an older turn.
  pure function pack4(array) result(line)
    integer, intent(in) :: array(..)
    integer, allocatable :: line(:)
    select rank (array)
    rank (1)
      line = array
    rank (2)
      line = [array]
    rank (3)
      line = [array]
    rank default
      allocate (line(0))
    end select
  end function

  subroutine landed(everything, section, place)
    integer, intent(in) :: everything(:), section(:), place
    character(len=20) :: line
    write (line, "(a, i0)") "line ", place
    call expect(all(section == fresh(1:size(section))), trim(line))
    call expect(count(everything > turn), size(section), trim(line) // ', elements that changed')
  end subroutine

  subroutine assumed_size(array, n)
    integer, intent(in) :: n, array(4, *)
    SENT(array(:, 1:n / 4), n, MPI_INTEGER, ([(i, i = 1, 20)]))
  end subroutine

  ! Sections that go as a datatype: all elements of two dimensions, some of one, backwards, of unequal sides.
  subroutine large
    integer, asynchronous, save :: from(100, 100), to(100, 100), line(20000), other_line(20000), want(100, 100)
    from = reshape([(i, i = 1, 10000)], [100, 100])
    to = -1
    call MPI_Irecv(to(2:100:2, :), 5000, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
    call MPI_Isend(from(1:99:2, 100:1:-1), 5000, MPI_INTEGER, 0, 0, MPI_COMM_SELF, other)
    call MPI_Wait(request, state)
    call MPI_Wait(other, MPI_STATUS_IGNORE)
    want = -1
    want(2:100:2, :) = from(1:99:2, 100:1:-1)
    call expect(all(to == want), 'a large section of two dimensions')
    line = [(i, i = 1, 20000)]
    other_line = -1
    call MPI_Isend(line(20000:2:-2), 3000, MPI_INTEGER, 0, 0, MPI_COMM_SELF, other)
    call MPI_Recv(other_line(1::3), 5000, MPI_INTEGER, 0, 0, MPI_COMM_SELF, state)
    call MPI_Wait(other, MPI_STATUS_IGNORE)
    call MPI_Get_count(state, MPI_INTEGER, i)
    call expect(i, 3000, 'elements that arrived')
    call expect(all(other_line(1:8998:3) == line(20000:14002:-2)), 'the first elements of a large section')
    call expect(count(other_line /= -1), 3000, 'elements of the large section')
    ! Half of a run, which no type of runs describes.
    to = -1
    call MPI_Isend(from(1:50, ::2), 2475, MPI_INTEGER, 0, 0, MPI_COMM_SELF, other)
    call MPI_Recv(to(:, 1:25), 2500, MPI_INTEGER, 0, 0, MPI_COMM_SELF, state)
    call MPI_Wait(other, MPI_STATUS_IGNORE)
    want(1:50, 1:50) = from(1:50, 1:99:2)
    call expect(all(reshape(to(:, 1:25), [2475]) == reshape(want(1:50, 1:50), [2475])), 'part of a large section')
    ! Not all of two dimensions.
    to = -1
    call MPI_Isend(from, 2400, MPI_INTEGER, 0, 0, MPI_COMM_SELF, other)
    call MPI_Recv(to(1:99:2, ::2), 2400, MPI_INTEGER, 0, 0, MPI_COMM_SELF, state)
    call MPI_Wait(other, MPI_STATUS_IGNORE)
    call expect(count(to /= -1), 2400, 'elements of a part of two dimensions')
    call MPI_Isend(from(1:99:2, ::2), 2400, MPI_INTEGER, 0, 0, MPI_COMM_SELF, other)
    call MPI_Recv(line, 5000, MPI_INTEGER, 0, 0, MPI_COMM_SELF, state)
    call MPI_Wait(other, MPI_STATUS_IGNORE)
    call MPI_Get_count(state, MPI_INTEGER, i)
    call expect(i, 2400, 'elements sent of two dimensions')
  end subroutine

  subroutine assumed_shape(array)
    integer, intent(in) :: array(:, :)
    SENT(array, size(array), MPI_INTEGER, ([array]))
  end subroutine
end program
