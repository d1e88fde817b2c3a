! SPDX-License-Identifier: BSD-3-Clause
! calls.c in Fortran: rank and send without ierror, rank_error and send_error with it, and a section instead of the type.
program calls
  use mpi_f08
  implicit none
  integer, parameter :: doubles = 131072
  double precision, asynchronous :: numbers(2 * doubles) = 0
  character(len=20) :: what, text
  integer :: n, i, rank, ierror
  call get_command_argument(1, what)
  call get_command_argument(2, text)
  read (text, *) n
  call MPI_Init
  select case (what)
  case ('rank')
    do i = 1, n
      call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    end do
  case ('rank_error')
    do i = 1, n
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    end do
  case ('send')
    do i = 1, n
      call MPI_Send(numbers(1:100), 100, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
    end do
  case ('send_error')
    do i = 1, n
      call MPI_Send(numbers(1:100), 100, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
    end do
  case ('vector')
    call vector
  end select
  call MPI_Finalize
contains
  subroutine vector
    double precision :: begin
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Barrier(MPI_COMM_WORLD)
    begin = MPI_Wtime()
    do i = 1, n
      if (rank == 0) call MPI_Send(numbers(1::2), doubles, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD)
      if (rank == 1) call MPI_Recv(numbers(1::2), doubles, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
    if (rank == 0) print '(f0.3)', (MPI_Wtime() - begin) / n * 1d6
  end subroutine
end program
