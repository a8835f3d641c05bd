! SPDX-License-Identifier: Apache-2.0
!
! control.f90 - measured in part, from Fortran. Argument: CPU seconds of one phase (default 0.2).
!
! What the trace must show, begun with -ds: no CPU time in prepare, all of it in work, three `range` spans named
! step, marks `solve` (a stretch) and `done` (a moment). Prints T or F: is it recorded?
module phases
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
contains
  subroutine burn(seconds)
    real(real64), intent(in) :: seconds
    real(real64) :: from, now

    call cpu_time(from)
    now = from
    do while (now - from < seconds)
      call cpu_time(now)
    end do
  end subroutine burn

  subroutine prepare(seconds)
    real(real64), intent(in) :: seconds

    call burn(seconds)
  end subroutine prepare

  subroutine work(seconds)
    use hpct
    real(real64), intent(in) :: seconds
    integer :: step

    call hpct_mark_begin('solve')
    do step = 1, 3
      call hpct_range_begin('step')
      call burn(seconds / 3)
      call hpct_range_end()
    end do
    call hpct_mark_end()
  end subroutine work
end module phases

program control
  use hpct
  use phases
  implicit none
  character(len=32) :: word
  real(real64) :: seconds

  seconds = 0.2_real64
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) seconds
  end if
  call prepare(seconds)
  call hpct_start()
  call work(seconds)
  call hpct_stop()
  call prepare(seconds)
  call hpct_mark('done')
  print '(l1)', hpct_is_recorded()
end program control
