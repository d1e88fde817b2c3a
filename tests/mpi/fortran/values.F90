! SPDX-License-Identifier: BSD-3-Clause
! Strings, logicals and sentinels (MPI 5.0, 19.1, 19.3.9).
#include "interface.inc"
program values
  FROM_MPI
  implicit none
  DECLARE_MPI
  integer :: ierror, rank, size, n, i, length
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: message
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=10) :: short
  character(len=40) :: long
  INFO :: info
  COMM :: grid, row, graph
  DATATYPE :: absolute
  logical :: flag, periods(3), remain(2)
  integer :: dims(3), coords(3), sum, sources(1), targets(1), weights(1), blocks(1), table(4), count
  integer(MPI_ADDRESS_KIND) :: address(1)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  ! Strings are trimmed on their way in and padded on their way out.
  name = 'flock'
  call MPI_Comm_set_name(MPI_COMM_SELF, name, ierror)
  name = repeat('x', MPI_MAX_OBJECT_NAME)
  call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierror)
  call expect(length, 5, 'length of the name')
  call expect(name == 'flock' .and. name(6:) == ' ', 'the name')
  call MPI_Error_string(MPI_ERR_RANK, message, length, ierror)
  call expect(len_trim(message), length, 'length of the error string')
  call MPI_Get_processor_name(host, length, ierror)
  call expect(length > 0 .and. length <= MPI_MAX_PROCESSOR_NAME, 'length of the host name')
  call MPI_Get_library_version(version, length, ierror)
  call expect(len_trim(version) > 0, 'the library version')
  call expect(MPI_MAX_OBJECT_NAME, 127, 'MPI_MAX_OBJECT_NAME has no final zero')

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  key  ', '  some value  ', ierror)
  call MPI_Info_get_valuelen(info, 'key', length, flag, ierror)
  call expect(flag, 'the key is there')
  call expect(length, 10, 'length of the value')
  call MPI_Info_get(info, 'key', 4, long, flag, ierror)
  call expect(long, 'some', 'a value cut off')
  length = 0
  call MPI_Info_get_string(info, 'key', length, long, flag, ierror)
  call expect(length, 10, 'length that MPI_Info_get_string tells')
  call MPI_Info_get_string(info, 'key', length, short, flag, ierror)
  call expect(short, 'some value', 'a value that just fits')
  length = 40
  long = repeat('x', 40)
  call MPI_Info_get_string(info, 'key', length, long, flag, ierror)
  call expect(long, 'some value', 'a value')
  call expect(length, 10, 'length of the value again')
  call MPI_Info_get_string(info, 'none', length, long, flag, ierror)
  call expect(.not. flag, 'no such key')
  call MPI_Info_get_nthkey(info, 0, key, ierror)
  call expect(key, 'key', 'the key')
  call MPI_Info_free(info, ierror)

  ! Logicals, also in arrays; what a call leaves alone keeps its value.
  dims(1:2) = 0
  call MPI_Dims_create(size, 2, dims, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
  periods = [.false., .true., .true.]
  dims(3) = -7
  coords(3) = -7
  call MPI_Cart_get(grid, 3, dims, periods, coords, ierror)
  call expect(periods(1) .and. .not. periods(2) .and. periods(3), 'the periods')
  call expect(dims(3), -7, 'the surplus dimension')
  remain = [.true., .false.]
  call MPI_Cart_sub(grid, remain, row, ierror)
  call MPI_Comm_size(row, n, ierror)
  call expect(n, dims(1), 'size of the row')
  call MPI_Cart_coords(grid, rank, 2, coords, ierror)
  call MPI_Cart_rank(grid, coords, n, ierror)
  call expect(n, rank, 'MPI_Cart_rank')
  call MPI_Initialized(flag, ierror)
  call expect(flag .eqv. .true., 'MPI_Initialized')
  call MPI_Finalized(flag, ierror)
  call expect(flag .eqv. .false., 'MPI_Finalized')

  ! Sentinels.
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect(sum, size * (size + 1) / 2, 'a sum in place')
  table = [1, 2, 3, 4]
  call MPI_Get_address(table, address(1), ierror)
  blocks(1) = 4
  call MPI_Type_create_hindexed(1, blocks, address, MPI_INTEGER, absolute, ierror)
  call MPI_Type_commit(absolute, ierror)
  if (rank /= 0) table = 0
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, ierror)
  call MPI_F_sync_reg(table)
  call expect(all(table == [1, 2, 3, 4]), 'data at absolute addresses')
  call MPI_Type_free(absolute, ierror)
  sources = modulo(rank - 1, size)
  targets = modulo(rank + 1, size)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., graph, ierror)
  call MPI_Dist_graph_neighbors_count(graph, n, count, flag, ierror)
  call expect(n == 1 .and. count == 1 .and. .not. flag, 'the neighbours')
  call MPI_Comm_free(graph, ierror)
  weights = 5
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, targets, weights, MPI_INFO_NULL, .false., &
    graph, ierror)
  weights = 0
  call MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, targets, MPI_UNWEIGHTED, ierror)
  call expect(weights(1), 5, 'the weight')
  call MPI_Comm_free(graph, ierror)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, &
    MPI_INFO_NULL, .false., graph, ierror)
  call expect(ierror, MPI_SUCCESS, 'a graph without neighbours')
  call MPI_Dist_graph_neighbors_count(graph, n, count, flag, ierror)
  call expect(n == 0 .and. flag, 'no neighbours, weighted')
  call MPI_Comm_free(graph, ierror)

  ! What the library knows of this compiler.
  call MPI_Abi_get_fortran_info(info, ierror)
  call expect(info /= MPI_INFO_NULL, 'the compiler is registered')
  length = 10
  call MPI_Info_get_string(info, 'mpi_integer_size', length, short, flag, ierror)
  call expect(short, '4', 'mpi_integer_size')
  call MPI_Info_free(info, ierror)
  call MPI_Abi_get_fortran_booleans(4, periods(1), periods(2), flag, ierror)
  call expect(flag .and. periods(1) .and. .not. periods(2), 'the truth values')
  address(1) = MPI_Aint_add(100_MPI_ADDRESS_KIND, -1_MPI_ADDRESS_KIND)
  call expect(int(MPI_Aint_diff(address(1), 90_MPI_ADDRESS_KIND)), 9, 'MPI_Aint_diff')
  i = 0
  call MPI_Finalize(ierror)
end program
