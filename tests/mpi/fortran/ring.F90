! SPDX-License-Identifier: BSD-3-Clause
! MPI 5.0, chapter 3 from Fortran: blocking, nonblocking and persistent messages, statuses, requests in arrays.
#include "interface.inc"
program ring
  FROM_MPI
  implicit none
  DECLARE_MPI
  integer :: rank, size, left, right, ierror, count, i, outcount, index
  integer :: numbers(100), got(100), places(4)
  double precision :: value, start
  logical :: flag
  STATUS :: state
  STATUSES(4) :: states
  REQUEST :: requests(4)

  call MPI_Init(ierror)
  call expect(ierror, MPI_SUCCESS, 'ierror of MPI_Init')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  start = MPI_Wtime()
  call expect(MPI_Wtick() > 0.0d0, 'MPI_Wtick')

  numbers = [(rank * 1000 + i, i = 1, 100)]
  call MPI_Sendrecv(numbers, 60, MPI_INTEGER, right, 5, got, 100, MPI_INTEGER, left, 5, MPI_COMM_WORLD, state, ierror)
  call expect(SOURCE_IN(state), left, 'source')
  call expect(TAG_IN(state), 5, 'tag')
  call MPI_Get_count(state, MPI_INTEGER, count, ierror)
  call expect(count, 60, 'count')
  call expect(got(60), left * 1000 + 60, 'element 60')

  got = 0
  call MPI_Irecv(got(1), 25, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Irecv(got(26), 25, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Isend(numbers(1), 25, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Isend(numbers(26), 25, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(4), ierror)
  call MPI_Waitall(4, requests, states, ierror)
  call expect(SOURCE_AT(states, 1), left, 'source of the first')
  call expect(all(got(1:50) == [(left * 1000 + i, i = 1, 50)]), 'numbers of Irecv')
  do i = 1, 4
    call expect(requests(i) == MPI_REQUEST_NULL, 'a request after MPI_Waitall')
  end do

  ! Indices count from one.
  requests = MPI_REQUEST_NULL
  call MPI_Irecv(got, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(numbers, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(4, requests, index, state, ierror)
  call expect(index, 3, 'index of MPI_Waitany')
  call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE, ierror)
  call expect(index, MPI_UNDEFINED, 'index without requests')
  call MPI_Irecv(got, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Send(numbers, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
  call MPI_Waitsome(4, requests, outcount, places, MPI_STATUSES_IGNORE, ierror)
  call expect(outcount, 1, 'outcount')
  call expect(places(1), 2, 'index of MPI_Waitsome')
  call MPI_Testsome(4, requests, outcount, places, states, ierror)
  call expect(outcount, MPI_UNDEFINED, 'outcount without requests')
  call MPI_Testall(4, requests, flag, states, ierror)
  call expect(flag, 'flag of MPI_Testall')
  call MPI_Testany(4, requests, index, flag, state, ierror)
  call expect(index, MPI_UNDEFINED, 'index of MPI_Testany')

  call MPI_Send_init(value, 1, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(1), ierror)
  value = rank + 0.5d0
  call MPI_Startall(1, requests, ierror)
  call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, state, ierror)
  call expect(SOURCE_IN(state), left, 'source of MPI_Probe')
  call MPI_Recv(got, 2, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, state, ierror)
  call expect(SOURCE_IN(state), MPI_PROC_NULL, 'source of a receive from nobody')
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Request_free(requests(1), ierror)
  call expect(requests(1) == MPI_REQUEST_NULL, 'the freed request')
  call MPI_Recv(value, 1, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call expect(value == left + 0.5d0, 'the persistent message')
  call expect(MPI_Wtime() >= start, 'MPI_Wtime')
  call MPI_Finalize(ierror)
end program
