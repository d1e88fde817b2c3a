! SPDX-License-Identifier: BSD-3-Clause
! What the C side has to know about this compiler, as initial values of common blocks (support.h, start.c).
module starling_mpi_compiler_sizes
  use, intrinsic :: iso_fortran_env, only: real_kinds
  implicit none
  integer, parameter :: bits = 8
  integer, parameter :: logical_size = storage_size(.true.) / bits
  integer, parameter :: integer_size = storage_size(0) / bits
  integer, parameter :: real_size = storage_size(0.0) / bits
  integer, parameter :: double_size = storage_size(0.0d0) / bits
  integer, parameter :: has_real16 = merge(1, 0, any(real_kinds == 16))
  integer, parameter :: has_real2 = merge(1, 0, any(real_kinds == 2))
end module

block data starling_mpi_compiler_facts
  use starling_mpi_compiler_sizes
  implicit none
  logical :: yes, no
  integer :: sizes(6)
  common /starling_mpi_logicals/ yes, no
  common /starling_mpi_compiler/ sizes
  data yes /.true./, no /.false./
  data sizes /logical_size, integer_size, real_size, double_size, has_real16, has_real2/
end block data
