! SPDX-License-Identifier: BSD-3-Clause
! MPI 5.0, chapter 12 from Fortran: windows, their memory as a pointer of Fortran's, epochs, operations, attributes.
#include "interface.inc"
#ifdef TEST_F08
#define WINDOW type(MPI_Win)
#else
#define WINDOW integer
#endif
program windows
  use, intrinsic :: iso_c_binding
  FROM_MPI
  implicit none
  DECLARE_MPI
  integer, parameter :: words = 10
  integer :: rank, size, left, right, ierror, i, width, last, unit, got(words), out(words), old, one
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place, value, asked
  logical :: flag
  integer, pointer :: memory(:), other(:)
  character(len=MPI_MAX_OBJECT_NAME) :: name
  WINDOW :: win
  GROUP :: world, neighbours
  REQUEST :: request
#ifdef TEST_MPIF
  integer(kind=MPI_ADDRESS_KIND) :: base
#else
  type(c_ptr) :: base
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  width = storage_size(width) / 8
  bytes = words * width

  call MPI_Win_allocate(bytes, width, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  call expect(ierror, MPI_SUCCESS, 'ierror of MPI_Win_allocate')
  call c_f_pointer(pointer_of(base), memory, [words])
  memory = -1
  out = [(100 * rank + i, i = 1, words)]
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
  place = 2
  call MPI_Put(out, 5, MPI_INTEGER, right, place, 5, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call expect(all(memory == [-1, -1, (100 * left + i, i = 1, 5), -1, -1, -1]), 'what was put')
  call MPI_Get(got, words, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, words, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
  call expect(got(3), 100 * rank + 1, 'what was got')

  ! All add to one word of rank 0.
  memory(1) = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  one = 1
  call MPI_Win_lock_all(0, win, ierror)
  call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
  call MPI_Win_flush(0, win, ierror)
  call expect(old >= 0 .and. old < 2 * size, 'the old value')
  call MPI_Raccumulate(one, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
  call MPI_Get(got, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_unlock(0, win, ierror)
  call expect(got(1), 2 * size, 'the sum')

  ! Epochs with the neighbours.
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
  call MPI_Group_incl(world, 1, [left], neighbours, ierror)
  call MPI_Win_post(neighbours, 0, win, ierror)
  call MPI_Group_free(neighbours, ierror)
  call MPI_Group_incl(world, 1, [right], neighbours, ierror)
  call MPI_Win_start(neighbours, 0, win, ierror)
  call MPI_Put(rank, 1, MPI_INTEGER, right, 9_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_complete(win, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Win_test(win, flag, ierror)
  end do
  call expect(memory(10), left, 'what was put between post and wait')
  call MPI_Group_free(neighbours, ierror)
  call MPI_Group_free(world, ierror)

  ! Fortran gets the values of attributes, not their addresses.
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
  call expect(flag .and. value == bytes, 'MPI_WIN_SIZE')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
  call expect(flag .and. value == width, 'MPI_WIN_DISP_UNIT')
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
  call expect(flag .and. value == MPI_WIN_FLAVOR_ALLOCATE, 'MPI_WIN_CREATE_FLAVOR')
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
  call expect(flag .and. value == transfer(c_loc(memory), value), 'MPI_WIN_BASE')
  call MPI_Win_set_name(win, 'grid', ierror)
  call MPI_Win_get_name(win, name, last, ierror)
  call expect_text(name(1:last), 'grid', 'the name')
  call MPI_Win_free(win, ierror)
  call expect(win == MPI_WIN_NULL, 'the freed window')

  ! Memory of all members, loaded and stored.
  call MPI_Win_allocate_shared(bytes, width, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  call c_f_pointer(pointer_of(base), memory, [words])
  memory = rank
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_shared_query(win, right, asked, unit, base, ierror)
  call expect(asked == bytes .and. unit == width, 'size and unit of MPI_Win_shared_query')
  call c_f_pointer(pointer_of(base), other, [words])
  call expect(all(other == right), 'the memory of the neighbour')
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
contains
#ifdef TEST_MPIF
  type(c_ptr) function pointer_of(address)
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: address
    pointer_of = transfer(address, c_null_ptr)
  end function
#else
  type(c_ptr) function pointer_of(address)
    type(c_ptr), intent(in) :: address
    pointer_of = address
  end function
#endif
end program
