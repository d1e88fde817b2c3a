! SPDX-License-Identifier: BSD-3-Clause
! Handles of every kind are made, compared and freed (MPI 5.0, 2.5.1, 19.3.4).
#include "interface.inc"
program handles
  FROM_MPI
  implicit none
  DECLARE_MPI
  COMM :: comm, other, inter
  GROUP :: group, pair
  DATATYPE :: vector, types(3)
  ERRHANDLER :: handler
  INFO :: info
  MESSAGE :: message
  REQUEST :: request
  SESSION :: session
  integer :: ierror, rank, size, result, ranks(2), ranges(3, 1), n, lengths(3), integers(8), i
  integer(MPI_ADDRESS_KIND) :: places(3), extent, lb, addresses(4)
  integer(MPI_COUNT_KIND) :: long
  logical :: flag
  STATUS :: state

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call expect(comm /= MPI_COMM_WORLD, 'a duplicate')
  call MPI_Comm_compare(comm, MPI_COMM_WORLD, result, ierror)
  call expect(result, MPI_CONGRUENT, 'MPI_Comm_compare')
  call MPI_Comm_split(comm, modulo(rank, 2), 0, other, ierror)
  call MPI_Comm_free(other, ierror)
  call expect(other == MPI_COMM_NULL, 'a freed communicator')

  call MPI_Comm_group(comm, group, ierror)
  ranks = [0, 0]
  call MPI_Group_incl(group, 1, ranks, pair, ierror)
  call MPI_Group_size(pair, n, ierror)
  call expect(n, 1, 'size of the group')
  call MPI_Group_free(pair, ierror)
  ranges(:, 1) = [0, size - 1, 1]
  call MPI_Group_range_incl(group, 1, ranges, pair, ierror)
  call MPI_Group_compare(group, pair, result, ierror)
  call expect(result, MPI_IDENT, 'MPI_Group_range_incl')
  call MPI_Group_free(pair, ierror)
  call MPI_Group_free(group, ierror)
  call expect(group == MPI_GROUP_NULL, 'a freed group')

  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector, ierror)
  call MPI_Type_commit(vector, ierror)
  call MPI_Type_get_extent(vector, lb, extent, ierror)
  call expect(int(extent), 40, 'extent of the vector')
  call MPI_Type_size_x(vector, long, ierror)
  call expect(long, 24_8, 'MPI_Type_size_x')
  lengths = 1
  places = [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND, 64_MPI_ADDRESS_KIND]
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION, vector]
  call MPI_Type_free(vector, ierror)
  types(3) = MPI_COMPLEX
  call MPI_Type_create_struct(3, lengths, places, types, vector, ierror)
  types = MPI_DATATYPE_NULL
  call MPI_Type_get_contents(vector, 8, 4, 3, integers, addresses, types, ierror)
  call expect(types(2) == MPI_DOUBLE_PRECISION, 'a type of the struct')
  call expect(addresses(3) == 64, 'a displacement of the struct')
  call MPI_Type_free(vector, ierror)
  call expect(vector == MPI_DATATYPE_NULL, 'a freed type')

  call MPI_Info_create(info, ierror)
  call expect(info /= MPI_INFO_NULL, 'an info object')
  call MPI_Info_free(info, ierror)
  call expect(info == MPI_INFO_NULL, 'a freed info object')

  call MPI_Comm_get_errhandler(comm, handler, ierror)
  call expect(handler == MPI_ERRORS_ARE_FATAL, 'the first error handler')
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call MPI_Send(rank, 1, MPI_INTEGER, size, 0, comm, ierror)
  call MPI_Error_class(ierror, result, i)
  call expect(result, MPI_ERR_RANK, 'class of the error')

  call MPI_Isend(rank, 1, MPI_INTEGER, rank, 7, comm, request, ierror)
  call MPI_Mprobe(rank, 7, comm, message, state, ierror)
  call expect(message /= MPI_MESSAGE_NULL, 'a message')
  call MPI_Mrecv(n, 1, MPI_INTEGER, message, state, ierror)
  call expect(n, rank, 'the message')
  call expect(message == MPI_MESSAGE_NULL, 'a received message')
  call MPI_Wait(request, state, ierror)
  call MPI_Iprobe(rank, 7, comm, flag, state, ierror)
  call expect(.not. flag, 'no message')

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, ierror)
  call expect(n >= 2, 'process sets')
  call MPI_Group_from_session_pset(session, 'mpi://SELF   ', group, ierror)
  call expect(ierror, MPI_SUCCESS, 'MPI_Group_from_session_pset')
  call MPI_Group_free(group, ierror)
  call MPI_Session_finalize(session, ierror)
  call expect(session == MPI_SESSION_NULL, 'a finalized session')

  if (size > 1) then
    call MPI_Comm_split(comm, modulo(rank, 2), 0, other, ierror)
    call MPI_Intercomm_create(other, 0, comm, 1 - modulo(rank, 2), 3, inter, ierror)
    call MPI_Comm_test_inter(inter, flag, ierror)
    call expect(flag, 'MPI_Comm_test_inter')
    call MPI_Comm_free(inter, ierror)
    call MPI_Comm_free(other, ierror)
  end if
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
end program
