! SPDX-License-Identifier: BSD-3-Clause
! Sections that are not contiguous, of all ranks, with any stride and count, in calls of every kind, against copies
! (MPI 5.0, 19.1.12). Usage: sections [number of cases].
module sections_state
  use mpi_f08
  use check
  implicit none
  integer, parameter :: dims(7) = [6, 5, 4, 4, 3, 3, 2], total = product(dims), calls = 20
  integer, target :: a(total), b(total), want(total)
  integer :: x(7, 2), y(7, 2), z(7, 2), count_now, case_now, which
  integer(8) :: seed = 12345
  integer, allocatable :: sent(:)
contains
  integer function random(low, high)
    integer, intent(in) :: low, high
    seed = iand(seed * 1103515245_8 + 12345_8, 2147483647_8)
    random = low + int(modulo(seed / 65536, int(high - low + 1, 8)))
  end function

  ! A section with at least one element in each dimension; k is 1 for what is sent, 2 for what is received.
  subroutine draw(k, limits)
    integer, intent(in) :: k, limits(:)
    integer :: d, first, last, step
    do d = 1, size(limits)
      step = random(1, 3)
      first = random(1, limits(d))
      last = min(random(first, limits(d)), first + 12)
      x(d, k) = first; y(d, k) = last; z(d, k) = step
      if (random(0, 3) == 0) then
        x(d, k) = last; y(d, k) = first; z(d, k) = -step
      end if
    end do
  end subroutine

  ! What the received section must hold: the first elements come from the sent one, the others stay.
  function expected(old) result(new)
    integer, intent(in) :: old(:)
    integer :: new(size(old))
    count_now = random(0, min(size(sent), size(old)))
    new = old
    new(:count_now) = sent(:count_now)
  end function


  subroutine send_and_receive
    integer :: k
    integer, pointer :: p1(:)
    integer, pointer :: p2(:, :)
    integer, pointer :: p3(:, :, :)
    integer, pointer :: p4(:, :, :, :)
    integer, pointer :: p5(:, :, :, :, :)
    integer, pointer :: p6(:, :, :, :, :, :)
    integer, pointer :: p7(:, :, :, :, :, :, :)
    k = 1
    select case (random(1, 7))
    case (1)
      p1(1:product(dims(1:7))) => a
      call draw(k, shape(p1))
      sent = reshape(p1(x(1,k):y(1,k):z(1,k)), [size(p1(x(1,k):y(1,k):z(1,k)))])
      call receive(p1(x(1,k):y(1,k):z(1,k)))
    case (2)
      p2(1:dims(1), 1:product(dims(2:7))) => a
      call draw(k, shape(p2))
      sent = reshape(p2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k)), [size(p2(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k)))])
      call receive(p2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k)))
    case (3)
      p3(1:dims(1), 1:dims(2), 1:product(dims(3:7))) => a
      call draw(k, shape(p3))
      sent = reshape(p3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k)), &
        [size(p3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k)))])
      call receive(p3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k)))
    case (4)
      p4(1:dims(1), 1:dims(2), 1:dims(3), 1:product(dims(4:7))) => a
      call draw(k, shape(p4))
      sent = reshape(p4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)), &
        [size(p4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)))])
      call receive(p4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)))
    case (5)
      p5(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:product(dims(5:7))) => a
      call draw(k, shape(p5))
      sent = reshape(p5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k)), [size(p5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), &
        x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k)))])
      call receive(p5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k)))
    case (6)
      p6(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:product(dims(6:7))) => a
      call draw(k, shape(p6))
      sent = reshape(p6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)), [size(p6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)))])
      call receive(p6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)))
    case (7)
      p7(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:dims(6), 1:product(dims(7:7))) => a
      call draw(k, shape(p7))
      sent = reshape(p7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k)), [size(p7(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), &
        x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k)))])
      call receive(p7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k)))
    end select
  end subroutine

  subroutine receive(s)
    integer, intent(in) :: s(..)
    integer :: k
    integer, pointer :: p1(:), w1(:)
    integer, pointer :: p2(:, :), w2(:, :)
    integer, pointer :: p3(:, :, :), w3(:, :, :)
    integer, pointer :: p4(:, :, :, :), w4(:, :, :, :)
    integer, pointer :: p5(:, :, :, :, :), w5(:, :, :, :, :)
    integer, pointer :: p6(:, :, :, :, :, :), w6(:, :, :, :, :, :)
    integer, pointer :: p7(:, :, :, :, :, :, :), w7(:, :, :, :, :, :, :)
    k = 2
    select case (random(1, 7))
    case (1)
      p1(1:product(dims(1:7))) => b
      call draw(k, shape(p1))
      w1(1:product(dims(1:7))) => want
      w1(x(1,k):y(1,k):z(1,k)) = reshape(expected(reshape(w1(x(1,k):y(1,k):z(1,k)), &
        [size(w1(x(1,k):y(1,k):z(1,k)))])), shape(w1(x(1,k):y(1,k):z(1,k))))
      call exchange(s, p1(x(1,k):y(1,k):z(1,k)), count_now)
    case (2)
      p2(1:dims(1), 1:product(dims(2:7))) => b
      call draw(k, shape(p2))
      w2(1:dims(1), 1:product(dims(2:7))) => want
      w2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k)) = reshape(expected(reshape(w2(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k)), [size(w2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k)))])), &
        shape(w2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k))))
      call exchange(s, p2(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k)), count_now)
    case (3)
      p3(1:dims(1), 1:dims(2), 1:product(dims(3:7))) => b
      call draw(k, shape(p3))
      w3(1:dims(1), 1:dims(2), 1:product(dims(3:7))) => want
      w3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k)) = reshape(expected(reshape(w3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k)), [size(w3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k)))])), &
        shape(w3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k))))
      call exchange(s, p3(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k)), count_now)
    case (4)
      p4(1:dims(1), 1:dims(2), 1:dims(3), 1:product(dims(4:7))) => b
      call draw(k, shape(p4))
      w4(1:dims(1), 1:dims(2), 1:dims(3), 1:product(dims(4:7))) => want
      w4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), &
        x(4,k):y(4,k):z(4,k)) = reshape(expected(reshape(w4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)), [size(w4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)))])), shape(w4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k))))
      call exchange(s, p4(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k)), &
        count_now)
    case (5)
      p5(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:product(dims(5:7))) => b
      call draw(k, shape(p5))
      w5(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:product(dims(5:7))) => want
      w5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k)) = reshape(expected(reshape(w5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k)), [size(w5(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k)))])), &
        shape(w5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k))))
      call exchange(s, p5(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k)), count_now)
    case (6)
      p6(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:product(dims(6:7))) => b
      call draw(k, shape(p6))
      w6(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:product(dims(6:7))) => want
      w6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)) = reshape(expected(reshape(w6(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), &
        x(6,k):y(6,k):z(6,k)), [size(w6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), &
        x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)))])), shape(w6(x(1,k):y(1,k):z(1,k), &
        x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), &
        x(6,k):y(6,k):z(6,k))))
      call exchange(s, p6(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k)), count_now)
    case (7)
      p7(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:dims(6), 1:product(dims(7:7))) => b
      call draw(k, shape(p7))
      w7(1:dims(1), 1:dims(2), 1:dims(3), 1:dims(4), 1:dims(5), 1:dims(6), 1:product(dims(7:7))) => want
      w7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), &
        x(7,k):y(7,k):z(7,k)) = reshape(expected(reshape(w7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), &
        x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), &
        x(7,k):y(7,k):z(7,k)), [size(w7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), &
        x(4,k):y(4,k):z(4,k), x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k)))])), &
        shape(w7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k))))
      call exchange(s, p7(x(1,k):y(1,k):z(1,k), x(2,k):y(2,k):z(2,k), x(3,k):y(3,k):z(3,k), x(4,k):y(4,k):z(4,k), &
        x(5,k):y(5,k):z(5,k), x(6,k):y(6,k):z(6,k), x(7,k):y(7,k):z(7,k)), count_now)
    end select
  end subroutine

  ! Every call copies the first n elements of s to r, in a group of one.
  subroutine exchange(s, r, n)
    integer, intent(in) :: s(..)
    integer, intent(inout) :: r(..)
    integer, intent(in) :: n
    integer :: packed(total), position
    integer :: one(1), zero(1)
    type(MPI_Request) :: request, other
    type(MPI_Datatype) :: types(1)
    one = n
    zero = 0
    types = MPI_INTEGER
    which = random(1, calls)
    select case (which)
    case (1)
      call MPI_Isend(s, n, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
      call MPI_Recv(r, n, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    case (2)
      call MPI_Irecv(r, total, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
      call MPI_Send(s, n, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    case (3)
      call MPI_Sendrecv(s, n, MPI_INTEGER, 0, 1, r, n, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    case (4)
      call MPI_Allreduce(s, r, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    case (5)
      call MPI_Iallreduce(s, r, n, MPI_INTEGER, MPI_MAX, MPI_COMM_SELF, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    case (6)
      call MPI_Alltoallv(s, one, zero, MPI_INTEGER, r, one, zero, MPI_INTEGER, MPI_COMM_SELF)
    case (7)
      call MPI_Ialltoallv(s, one, zero, MPI_INTEGER, r, one, zero, MPI_INTEGER, MPI_COMM_SELF, request)
      call finish(request)
    case (8)
      call MPI_Gatherv(s, n, MPI_INTEGER, r, one, zero, MPI_INTEGER, 0, MPI_COMM_SELF)
    case (9)
      call MPI_Iscatterv(s, one, zero, MPI_INTEGER, r, n, MPI_INTEGER, 0, MPI_COMM_SELF, request)
      call finish(request)
    case (10)
      call MPI_Allgather(s, n, MPI_INTEGER, r, n, MPI_INTEGER, MPI_COMM_SELF)
    case (11)
      call MPI_Iallgather(s, n, MPI_INTEGER, r, n, MPI_INTEGER, MPI_COMM_SELF, request)
      call finish(request)
    case (12)
      call MPI_Scan(s, r, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    case (13)
      call MPI_Reduce(s, r, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_SELF)
    case (14)
      call MPI_Ireduce(s, r, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_SELF, request)
      call finish(request)
    case (15)
      call MPI_Send_init(s, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, request)
      call MPI_Recv_init(r, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, other)
      call MPI_Start(request)
      call MPI_Start(other)
      call MPI_Wait(other, MPI_STATUS_IGNORE)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Request_free(request)
      call MPI_Request_free(other)
    case (16)
      position = 0
      call MPI_Pack(s, n, MPI_INTEGER, packed, 4 * total, position, MPI_COMM_SELF)
      position = 0
      call MPI_Unpack(packed, 4 * total, position, r, n, MPI_INTEGER, MPI_COMM_SELF)
    case (17)
      call MPI_Alltoallw(s, one, zero, types, r, one, zero, types, MPI_COMM_SELF)
    case (18)
      call MPI_Reduce_scatter_block(s, r, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    case (19)
      call MPI_Sendrecv(s, int(n, MPI_COUNT_KIND), MPI_INTEGER, 0, 1, r, int(n, MPI_COUNT_KIND), MPI_INTEGER, 0, 1, &
        MPI_COMM_SELF, MPI_STATUS_IGNORE)
    case (20)
      call MPI_Allreduce_init(s, r, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, request)
      call MPI_Start(request)
      call finish(request)
      call MPI_Request_free(request)
    end select
  end subroutine

  ! By different routines.
  subroutine finish(request)
    type(MPI_Request), intent(inout) :: request
    type(MPI_Request) :: requests(2)
    logical :: done
    integer :: index, number, places(2)
    select case (random(1, 4))
    case (1)
      done = .false.
      do while (.not. done)
        call MPI_Test(request, done, MPI_STATUS_IGNORE)
      end do
    case (2)
      requests = [MPI_REQUEST_NULL, request]
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      request = requests(2)
    case (3)
      requests = [MPI_REQUEST_NULL, request]
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
      request = requests(2)
    case (4)
      requests = [MPI_REQUEST_NULL, request]
      call MPI_Waitsome(2, requests, number, places, MPI_STATUSES_IGNORE)
      request = requests(2)
    end select
  end subroutine
  ! A request that is no longer active brings nothing back again: the section is the program's own.
  subroutine not_twice
    integer :: whole(10), values(5)
    type(MPI_Request) :: request
    logical :: done
    whole = 0
    values = [1, 2, 3, 4, 5]
    call MPI_Recv_init(whole(1:10:2), 5, MPI_INTEGER, 0, 3, MPI_COMM_SELF, request)
    call MPI_Start(request)
    call MPI_Send(values, 5, MPI_INTEGER, 0, 3, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(whole(1:10:2) == values), 'a persistent receive into a section')
    whole = 7
    call MPI_Test(request, done, MPI_STATUS_IGNORE)
    call expect(done .and. all(whole == 7), 'a section after MPI_Test of a request that is not active')
    call MPI_Request_free(request)
    call expect(all(whole == 7), 'a section after its request was freed')
  end subroutine

  ! Operations that are done when their calls return have one handle in common: each section is its own all the same.
  subroutine done_at_once
    integer, target, save :: shown(10)
    integer :: first(10), second(10), i
    type(MPI_Request) :: requests(2)
    type(MPI_Win) :: window
    shown = [(i, i = 1, 10)]
    call MPI_Win_create(shown, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, window)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window)
    first = 0
    second = 0
    call MPI_Rget(first(1:10:2), 5, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 5, MPI_INTEGER, window, requests(1))
    call MPI_Rget(second(10:1:-2), 5, MPI_INTEGER, 0, 5_MPI_ADDRESS_KIND, 5, MPI_INTEGER, window, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(first(1:10:2) == shown(1:5)), 'the first of two gets into sections')
    call expect(all(second(10:1:-2) == shown(6:10)), 'the second of two gets into sections')
    first = 0
    call MPI_Rget(first(1:10:2), 5, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 5, MPI_INTEGER, window, requests(1))
    call MPI_Rget(second, 10, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 10, MPI_INTEGER, window, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(first(1:10:2) == shown(1:5)), 'a get into a section before one into a whole array')
    call MPI_Win_unlock(0, window)
    call MPI_Win_free(window)
    first = shown
    call MPI_Isend(first(1:10:2), 5, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(1))
    call MPI_Isend(first(2:10:2), 5, MPI_INTEGER, 0, 5, MPI_COMM_SELF, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Recv(second(1:5), 5, MPI_INTEGER, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Recv(second(6:10), 5, MPI_INTEGER, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call expect(all(second == [first(1:10:2), first(2:10:2)]), 'two sends of sections')
  end subroutine
end module

program sections
  use sections_state
  implicit none
  integer :: cases, i
  character(len=20) :: word
  character(len=60) :: what
  call MPI_Init
  cases = 5000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) cases
  end if
  do case_now = 1, cases
    a = [(case_now * 7 + i, i = 1, total)]
    b = [(-i, i = 1, total)]
    want = b
    call send_and_receive
    if (any(b /= want)) then
      i = findloc(b /= want, .true., 1)
      write (what, '(a, i0, a, i0, a, i0)') 'case ', case_now, ', call ', which, ', element ', i
      call expect(b(i), want(i), trim(what))
    end if
  end do
  call not_twice
  call done_at_once
  call MPI_Finalize
end program
