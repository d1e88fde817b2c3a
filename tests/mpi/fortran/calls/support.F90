! SPDX-License-Identifier: BSD-3-Clause
! What the generated programs share: the side of Fortran of double.c, and what is counted.
module calls_support
  use, intrinsic :: iso_c_binding, only: c_f_procpointer, c_funloc, c_funptr, c_null_ptr, c_ptr
  implicit none
  integer, target :: buffer(100, 4) = 0
  integer :: made = 0, bad = 0
  type(c_funptr) :: callback
  interface
    subroutine double_buffers(at) bind(C)
      integer :: at(*)
    end subroutine
    subroutine double_expects(number, answer) bind(C)
      integer, value :: number, answer
    end subroutine
    integer function double_calls() bind(C)
    end function
    integer function double_wrong() bind(C)
    end function
  end interface
contains
  ! The first call of all tells C about the compiler; what follows is one call of C each.
  subroutine start
    callback = c_funloc(never_called)
    call double_buffers(buffer)
    call double_expects(0, 0)
  end subroutine

  subroutine ok(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    bad = bad + 1
    write (0, '(2a)') 'not as expected: ', what
  end subroutine

  subroutine begin(number, answer)
    integer, intent(in) :: number, answer
    call double_expects(number, answer)
  end subroutine

  subroutine end_call(name, got, want)
    character(len=*), intent(in) :: name
    integer, intent(in) :: got, want
    made = made + 1
    call ok(double_calls() == 1, name // ' does not call its C function once')
    call ok(got == want, name // ': ierror')
  end subroutine

  ! Given as a callback; the double calls none.
  subroutine never_called() bind(C)
    error stop 'a callback was called'
  end subroutine

  subroutine finish
    bad = bad + double_wrong()
    print '(i0, a, i0, a)', made, ' calls, ', bad, ' wrong'
    if (bad > 0) error stop 1
  end subroutine
end module
