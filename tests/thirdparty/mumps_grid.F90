! SPDX-License-Identifier: BSD-3-Clause
! Solves a grid's equations with MUMPS, for the test beside it; says how far the answers are from the known one.
!
! The build defines MUMPS_CALL, MUMPS_TYPE, MUMPS_HEADER and NUMBER (the arithmetic). Input: the edge of the cube.
! Each point is coupled to its six neighbours, and the right-hand sides belong to a known solution. One line for
! each case: the kind of matrix (MUMPS' SYM), whether every rank brings its own part of it, the largest error,
! MUMPS' own residual (of a single right-hand side), the fronts that several ranks work on, and what MUMPS
! counted. Layer: tests.
program mumps_grid
  use mpi
  implicit none
  include MUMPS_HEADER
  integer :: rank, ranks, edge, symmetry, spread, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  if (rank == 0) read (*, *) edge
  call MPI_Bcast(edge, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  do symmetry = 0, 2
    do spread = 0, 1
      call solve(symmetry, spread == 1)
    end do
  end do
  call MPI_Finalize(ierr)

contains

  subroutine solve(symmetry, distributed)
    integer, intent(in) :: symmetry
    logical, intent(in) :: distributed
    type(MUMPS_TYPE) :: id
    integer :: i, j, columns
    double precision :: off, wrong
    columns = merge(3, 1, distributed)
    id%COMM = MPI_COMM_WORLD
    id%SYM = symmetry
    id%PAR = 1
    call step(id, -1)
    id%ICNTL(1:4) = [6, -1, -1, 1]
    id%ICNTL(11) = 2  ! it computes the residual
    id%ICNTL(13) = 1  ! the last front without ScaLAPACK
    id%N = edge**3
    if (distributed) then
      id%ICNTL(18) = 3
      call equations(id, rank, ranks, .true.)
    else if (rank == 0) then
      call equations(id, 0, 1, .false.)
    end if
    if (rank == 0) then
      id%NRHS = columns
      id%LRHS = id%N
      allocate (id%RHS(id%N * columns))
      do j = 1, columns
        do i = 1, id%N
          id%RHS((j - 1) * id%N + i) = right_side(i, j, symmetry)
        end do
      end do
    end if
    call step(id, 6)
    if (rank == 0) then
      wrong = 0
      do j = 1, columns
        do i = 1, id%N
          off = abs(id%RHS((j - 1) * id%N + i) - known(i, j))
          if (.not. off <= wrong) wrong = min(off, 1d9)
          if (off /= off) wrong = 1d9  ! not a number
        end do
      end do
      print '(A, I2, L2, ES9.1, ES9.1, *(I10))', 'case', symmetry, distributed, wrong, id%RINFOG(6), id%KEEP(56), &
        id%INFOG(3), id%INFOG(5:7), id%INFOG(11:13), id%INFOG(20), id%INFOG(29)
    end if
    call step(id, -2)
    if (distributed) deallocate (id%IRN_loc, id%JCN_loc, id%A_loc)
    if (.not. distributed .and. rank == 0) deallocate (id%IRN, id%JCN, id%A)
    if (rank == 0) deallocate (id%RHS)
  end subroutine

  ! One call of MUMPS; an error or a warning that it reports is the end of the program.
  subroutine step(id, job)
    type(MUMPS_TYPE), intent(inout) :: id
    integer, intent(in) :: job
    id%JOB = job
    call MUMPS_CALL(id)
    if (id%INFOG(1) /= 0) then
      print '(A, I4, A, I6, I12)', 'job', job, ': INFOG', id%INFOG(1:2)
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine

  NUMBER function known(row, column)
    integer, intent(in) :: row, column
    known = mod(row * column, 7) + 1
  end function

  ! The coupling of a point to itself (direction 0) or to a neighbour; symmetric unless symmetry is 0.
  NUMBER function coupling(direction, symmetry)
    integer, intent(in) :: direction, symmetry
    coupling = -1
    if (direction == 0) coupling = 7
    if (direction < 0 .and. symmetry == 0) coupling = -1.25d0
  end function

  ! The neighbour of a point in direction -3..3, or 0 outside of the grid; direction 0 is the point itself.
  integer function neighbour(row, direction)
    integer, intent(in) :: row, direction
    integer :: place(3), axis
    neighbour = row
    if (direction == 0) return
    place = [mod(row - 1, edge), mod((row - 1) / edge, edge), (row - 1) / edge**2]
    axis = abs(direction)
    place(axis) = place(axis) + sign(1, direction)
    neighbour = 0
    if (place(axis) >= 0 .and. place(axis) < edge) neighbour = 1 + place(1) + edge * (place(2) + edge * place(3))
  end function

  NUMBER function right_side(row, column, symmetry)
    integer, intent(in) :: row, column, symmetry
    integer :: direction
    right_side = 0
    do direction = -3, 3
      if (neighbour(row, direction) == 0) cycle
      right_side = right_side + coupling(direction, symmetry) * known(neighbour(row, direction), column)
    end do
  end function

  ! The entries of every parts-th row, from row part + 1 on; of a symmetric matrix the lower half.
  subroutine equations(id, part, parts, distributed)
    type(MUMPS_TYPE), intent(inout) :: id
    integer, intent(in) :: part, parts
    logical, intent(in) :: distributed
    integer :: row, direction, last
    integer(8) :: many
    integer, allocatable :: rows(:), cols(:)
    NUMBER, allocatable :: values(:)
    allocate (rows(7 * (edge**3 / parts + 1)), cols(7 * (edge**3 / parts + 1)), values(7 * (edge**3 / parts + 1)))
    many = 0
    last = merge(3, 0, id%SYM == 0)
    do row = part + 1, edge**3, parts
      do direction = -3, last
        if (neighbour(row, direction) == 0) cycle
        many = many + 1
        rows(many) = row
        cols(many) = neighbour(row, direction)
        values(many) = coupling(direction, id%SYM)
      end do
    end do
    if (distributed) then
      id%NNZ_loc = many
      allocate (id%IRN_loc(many), id%JCN_loc(many), id%A_loc(many))
      id%IRN_loc = rows(:many)
      id%JCN_loc = cols(:many)
      id%A_loc = values(:many)
    else
      id%NNZ = many
      allocate (id%IRN(many), id%JCN(many), id%A(many))
      id%IRN = rows(:many)
      id%JCN = cols(:many)
      id%A = values(:many)
    end if
  end subroutine
end program
