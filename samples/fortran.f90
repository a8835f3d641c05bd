! SPDX-License-Identifier: Apache-2.0
!
! fortran.f90 - a module, an array function and an internal procedure. Argument: CPU seconds of one
! unit (default 0.2; four units).
!
! What the trace must show: MAIN__ of the program `heat` below main, and below it
!   grid::smooth (symbol __grid_MOD_smooth)   two units
!   grid::norm   (symbol __grid_MOD_norm)     one unit
!   save_grid    (internal to heat)           one unit
! The work and the looks at the clock lie in these three procedures themselves.
!
module grid
  implicit none
contains
  subroutine smooth(u, seconds)
    real(8), intent(inout) :: u(:, :)
    real(8), intent(in) :: seconds
    real(8) :: begin, now
    integer :: i, j
    call cpu_time(begin)
    do
      do j = 2, size(u, 2) - 1
        do i = 2, size(u, 1) - 1
          u(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
        end do
      end do
      call cpu_time(now)
      if (now - begin >= seconds) exit
    end do
  end subroutine smooth

  function norm(u, seconds) result(total)
    real(8), intent(in) :: u(:, :)
    real(8), intent(in) :: seconds
    real(8) :: total, begin, now
    integer :: i, j
    total = 0
    call cpu_time(begin)
    do
      do j = 1, size(u, 2)
        do i = 1, size(u, 1)
          total = total + sqrt(abs(u(i, j)))
        end do
      end do
      call cpu_time(now)
      if (now - begin >= seconds) exit
    end do
  end function norm
end module grid

program heat
  use grid
  implicit none
  real(8) :: u(200, 200), total, seconds
  character(len=32) :: word
  integer :: status

  seconds = 0.2d0
  call get_command_argument(1, word, status=status)
  if (status == 0) read (word, *) seconds
  u = 0
  u(1, :) = 100
  call smooth(u, 2 * seconds)
  total = norm(u, seconds)
  call save_grid(seconds)
  if (total < 0) print *, total
contains
  subroutine save_grid(seconds)
    real(8), intent(in) :: seconds
    real(8) :: begin, now
    integer :: i
    call cpu_time(begin)
    do
      do i = 1, 40000
        u(mod(i, 200) + 1, 1) = u(mod(i, 200) + 1, 1) * 0.999d0 + total * 1d-12
      end do
      call cpu_time(now)
      if (now - begin >= seconds) exit
    end do
  end subroutine save_grid
end program heat
