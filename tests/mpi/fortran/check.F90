! SPDX-License-Identifier: BSD-3-Clause
! What every Fortran program here shares: a check that ends the whole job at the first mismatch.
module check
  implicit none
  interface expect
    procedure expect_true, expect_equal, expect_long, expect_text
  end interface
contains
  subroutine fail(what)
    character(len=*), intent(in) :: what
    write (0, '(2a)') 'not as expected: ', what
    flush (0)
    call abort_job
  end subroutine

  subroutine abort_job
    interface
      subroutine mpi_abort_in_c(comm, code) bind(C, name='check_abort')
        integer, value :: comm, code
      end subroutine
    end interface
    call mpi_abort_in_c(257, 1)
  end subroutine

  subroutine expect_true(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (.not. condition) call fail(what)
  end subroutine

  subroutine expect_equal(got, want, what)
    integer, intent(in) :: got, want
    character(len=*), intent(in) :: what
    character(len=40) :: text
    if (got == want) return
    write (text, '(a, i0, a, i0)') ' is ', got, ', expected ', want
    call fail(what // text)
  end subroutine

  subroutine expect_long(got, want, what)
    integer(8), intent(in) :: got, want
    character(len=*), intent(in) :: what
    character(len=80) :: text
    if (got == want) return
    write (text, '(a, i0, a, i0)') ' is ', got, ', expected ', want
    call fail(what // text)
  end subroutine

  subroutine expect_text(got, want, what)
    character(len=*), intent(in) :: got, want, what
    if (got /= want) call fail(what // ' is "' // got // '", expected "' // want // '"')
  end subroutine
end module
