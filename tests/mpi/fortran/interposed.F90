! SPDX-License-Identifier: BSD-3-Clause
! A profiling tool in Fortran: replaces the specific procedures and calls those with P (MPI 5.0, 15.2, 19.1.5).
module counted
  implicit none
  integer :: sends = 0, ranks = 0
end module

subroutine MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  use mpi_f08, my_send => MPI_Send_f08ts
  use counted
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  sends = sends + 1
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine MPI_Comm_rank_f08(comm, rank, ierror)
  use mpi_f08, my_rank => MPI_Comm_rank_f08
  use counted
  implicit none
  type(MPI_Comm), intent(in) :: comm
  integer, intent(out) :: rank
  integer, optional, intent(out) :: ierror
  ranks = ranks + 1
  call PMPI_Comm_rank(comm, rank, ierror)
end subroutine

program interposed
  use mpi_f08
  use counted
  use check
  implicit none
  integer :: rank, numbers(20), i
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call PMPI_Comm_rank(MPI_COMM_WORLD, rank)
  numbers = [(i, i = 1, 20)]
  if (rank == 0) call MPI_Send(numbers(1:19:3), 7, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
  if (rank == 1) then
    numbers = 0
    call MPI_Recv(numbers, 20, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(numbers(1:7) == [(i, i = 1, 19, 3)]), 'the section that the tool passed on')
  end if
  call expect(sends, 1 - rank, 'sends that the tool saw')
  call expect(ranks, 1, 'calls of MPI_Comm_rank that the tool saw')
  call MPI_Finalize
end program
