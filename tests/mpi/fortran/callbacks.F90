! SPDX-License-Identifier: BSD-3-Clause
! Callbacks and attributes, with C and Fortran in one program (MPI 5.0, 19.3.6, 19.3.7).
#include "interface.inc"
module callbacks_state
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0, last_error = 0, queries = 0, frees = 0, cancels = 0, reductions = 0
  interface
    integer(8) function c_reads_attribute(comm, keyval) bind(C)
      integer, value :: comm, keyval
    end function
    integer function c_makes_keyval() bind(C)
    end function
    integer(8) function c_sets_attribute(comm, keyval) bind(C)
      integer, value :: comm, keyval
    end function
    integer function c_makes_op() bind(C)
    end function
    integer function c_reduces(op, a, b) bind(C)
      integer, value :: op, a, b
    end function
    integer function c_raises(comm) bind(C)
      integer, value :: comm
    end function
    integer function c_completes(request) bind(C)
      integer, value :: request
    end function
  end interface
end module

module callbacks_given
contains
  subroutine copy(comm, keyval, extra, value_in, value_out, flag, ierror)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    COMM :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    copies = copies + 1
    call expect(extra, 1234567890123_8, 'extra_state of the copy')
    value_out = value_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine remove(comm, keyval, value, extra, ierror)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    COMM :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deletes = deletes + 1
    call expect(extra, 1234567890123_8, 'extra_state of the deletion')
    ierror = MPI_SUCCESS
  end subroutine

  subroutine raised(comm, code)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    COMM :: comm
    integer :: code, ierror
    errors = errors + 1
    call MPI_Error_class(code, last_error, ierror)
  end subroutine

#ifdef TEST_F08
  subroutine multiply(in, inout, len, datatype)
    use, intrinsic :: iso_c_binding
    FROM_MPI
    use callbacks_state
    implicit none
    type(c_ptr), value :: in, inout
    integer :: len
    DATATYPE :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [len])
    call c_f_pointer(inout, b, [len])
#else
  subroutine multiply(a, b, len, datatype)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    integer :: len, datatype
    integer :: a(len), b(len)
#endif
    call expect(datatype == MPI_INTEGER .or. datatype == MPI_INT, 'the type that a reduction gets')
    reductions = reductions + 1
    b = a * b
  end subroutine

  subroutine query(extra, state, ierror)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    integer(MPI_ADDRESS_KIND) :: extra
    STATUS :: state
    integer :: ierror
    queries = queries + 1
    call MPI_Status_set_elements(state, MPI_INTEGER, int(extra), ierror)
    call MPI_Status_set_cancelled(state, .false., ierror)
    SOURCE_IN(state) = 42
    TAG_IN(state) = MPI_UNDEFINED
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra, ierror)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    frees = frees + 1
    extra = extra + 4
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, ierror)
    FROM_MPI
    use callbacks_state
    implicit none
    DECLARE_MPI
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    cancels = cancels + 1
    call expect(complete .eqv. .false., 'complete in the cancellation')
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  FROM_MPI
  use callbacks_state
  use callbacks_given
  implicit none
  DECLARE_MPI
  COMM :: comm, other
  ERRHANDLER :: handler
  OP :: product_op, c_op
  REQUEST :: request
  STATUS :: state
  integer :: keyval, c_keyval, ierror, rank, size, number, i
  integer(MPI_ADDRESS_KIND) :: value, extra
  integer(MPI_ADDRESS_KIND), volatile :: state_of_request
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)

  ! Attributes: Fortran with Fortran, C reads Fortran's, Fortran reads C's.
  extra = 1234567890123_8
  call MPI_Comm_create_keyval(copy, remove, keyval, extra, ierror)
  value = -9876543210_8
  call MPI_Comm_set_attr(comm, keyval, value, ierror)
  value = 0
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call expect(flag, 'the attribute is there')
  call expect(value, -9876543210_8, 'the attribute')
  call expect(c_reads_attribute(VALUE(comm), keyval), -9876543210_8, 'the attribute in C')
  call MPI_Comm_dup(comm, other, ierror)
  call expect(copies, 1, 'copies')
  call MPI_Comm_get_attr(other, keyval, value, flag, ierror)
  call expect(value, -9876543209_8, 'the copied attribute')
  call MPI_Comm_free(other, ierror)
  call expect(deletes, 1, 'deletions')
  call MPI_Comm_delete_attr(comm, keyval, ierror)
  call expect(deletes, 2, 'deletions in the end')
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call expect(.not. flag, 'the attribute is gone')
  call MPI_Comm_free_keyval(keyval, ierror)
  call expect(keyval, MPI_KEYVAL_INVALID, 'the freed keyval')

  c_keyval = c_makes_keyval()
  extra = c_sets_attribute(VALUE(comm), c_keyval)
  call MPI_Comm_get_attr(comm, c_keyval, value, flag, ierror)
  call expect(flag .and. value == extra, 'an attribute set from C is an address')
  call MPI_Comm_set_attr(comm, c_keyval, 5_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(comm, other, ierror)
  call expect(c_reads_attribute(VALUE(other), c_keyval), 5_8, 'a copy by C of what Fortran set')
  call MPI_Comm_get_attr(other, c_keyval, value, flag, ierror)
  call expect(value, 5_8, 'that copy in Fortran')
  call MPI_Comm_free(other, ierror)

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierror)
  extra = c_sets_attribute(VALUE(comm), keyval)
  call MPI_Comm_dup(comm, other, ierror)
  call MPI_Comm_get_attr(other, keyval, value, flag, ierror)
  call expect(value, extra, 'MPI_COMM_DUP_FN of what C set')
  call MPI_Comm_free(other, ierror)
  call MPI_Comm_free_keyval(keyval, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call expect(flag .and. value >= 32767, 'MPI_TAG_UB is a value')

#ifndef TEST_F08
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 3, ierror)
  call MPI_Attr_put(comm, keyval, -12, ierror)
  call MPI_Comm_dup(comm, other, ierror)
  call MPI_Attr_get(other, keyval, number, flag, ierror)
  call expect(flag .and. number == -12, 'a copied attribute of the old kind')
  call MPI_Comm_get_attr(other, keyval, value, flag, ierror)
  call expect(value, -12_8, 'the same as an address-sized integer')
  call MPI_Comm_free(other, ierror)
  call MPI_Keyval_free(keyval, ierror)
#endif

  ! Error handlers, called by C and by Fortran.
  call MPI_Comm_create_errhandler(raised, handler, ierror)
  call MPI_Comm_set_errhandler(comm, handler, ierror)
  call MPI_Errhandler_free(handler, ierror)
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER, ierror)
  call expect(errors, 1, 'errors')
  call expect(last_error, MPI_ERR_OTHER, 'the error')
  call MPI_Send(rank, 1, MPI_INTEGER, size, 0, comm, ierror)
  call expect(last_error, MPI_ERR_RANK, 'the error of a send')
  i = c_raises(VALUE(comm))
  call expect(last_error, MPI_ERR_TOPOLOGY, 'the error that C raised')

  ! Reductions made in one language and used in the other.
  call MPI_Op_create(multiply, .true., product_op, ierror)
  number = 2
  call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, product_op, MPI_COMM_WORLD, ierror)
  call expect(number, 2**size, 'a product')
  call expect(c_reduces(VALUE(product_op), 6, 7), 42, 'a product in C')
  call expect(reductions > 0, 'calls of the reduction')
  call MPI_Op_commutative(product_op, flag, ierror)
  call expect(flag, 'MPI_Op_commutative')
  call MPI_Op_free(product_op, ierror)
  call expect(product_op == MPI_OP_NULL, 'the freed operation')
  VALUE(c_op) = c_makes_op()
  number = rank
  call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, c_op, MPI_COMM_WORLD, ierror)
  call expect(number, size * (size - 1) / 2, 'a sum by C')
  call MPI_Op_free(c_op, ierror)

  ! Generalised requests.
  state_of_request = 3
  call MPI_Grequest_start(query, release, cancel, state_of_request, request, ierror)
  call MPI_Test(request, flag, state, ierror)
  call expect(.not. flag, 'a request that is not complete')
  call MPI_Cancel(request, ierror)
  call expect(cancels, 1, 'cancellations')
  i = c_completes(VALUE(request))
  call MPI_Wait(request, state, ierror)
  call expect(queries, 1, 'queries')
  call expect(frees, 1, 'releases')
  call expect(state_of_request, 7_8, 'what the release wrote to its extra_state')
  call expect(SOURCE_IN(state), 42, 'source of the generalised request')
  call MPI_Get_count(state, MPI_INTEGER, number, ierror)
  call expect(number, 3, 'count of the generalised request')

  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
end program
