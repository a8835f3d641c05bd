! SPDX-License-Identifier: Apache-2.0
!
! hpct.f90 - hpct.h for Fortran: compile it with your program, then `use hpct`. Nothing is linked: the
! functions of hpct-record's agent are looked up at each call; without an agent they do
! nothing.
!
!   use hpct
!   call hpct_start()
!   call hpct_range_begin('step')
!   call hpct_range_end()
!   call hpct_stop()
!
! With a C library older than glibc 2.34, link with -ldl.
module hpct
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hpct_is_recorded, hpct_start, hpct_stop, hpct_mark
  public :: hpct_mark_begin, hpct_mark_end, hpct_range_begin, hpct_range_end

  abstract interface
    subroutine plain_call() bind(c)
    end subroutine plain_call

    subroutine named_call(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine named_call
  end interface

  interface
    function dlsym(handle, name) bind(c, name='dlsym') result(address)
      import :: c_ptr, c_char, c_funptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

contains

  ! A null handle is RTLD_DEFAULT: the first definition in the program's lookup order.
  function found(name) result(address)
    character(len=*), intent(in) :: name
    type(c_funptr) :: address

    address = dlsym(c_null_ptr, 'hpct_agent_'//name//c_null_char)
  end function found

  subroutine plain(name)
    character(len=*), intent(in) :: name
    procedure(plain_call), pointer :: call_it
    type(c_funptr) :: address

    address = found(name)
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, call_it)
    call call_it()
  end subroutine plain

  subroutine named(name, text)
    character(len=*), intent(in) :: name, text
    procedure(named_call), pointer :: call_it
    type(c_funptr) :: address

    address = found(name)
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, call_it)
    call call_it(trim(text)//c_null_char)
  end subroutine named

  logical function hpct_is_recorded()
    hpct_is_recorded = c_associated(found('start'))
  end function hpct_is_recorded

  subroutine hpct_start()
    call plain('start')
  end subroutine hpct_start

  subroutine hpct_stop()
    call plain('stop')
  end subroutine hpct_stop

  subroutine hpct_mark(name)
    character(len=*), intent(in) :: name

    call named('mark', name)
  end subroutine hpct_mark

  subroutine hpct_mark_begin(name)
    character(len=*), intent(in) :: name

    call named('mark_begin', name)
  end subroutine hpct_mark_begin

  subroutine hpct_mark_end()
    call plain('mark_end')
  end subroutine hpct_mark_end

  subroutine hpct_range_begin(name)
    character(len=*), intent(in) :: name

    call named('range_begin', name)
  end subroutine hpct_range_begin

  subroutine hpct_range_end()
    call plain('range_end')
  end subroutine hpct_range_end

end module hpct
