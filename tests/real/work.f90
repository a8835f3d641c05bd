! SPDX-License-Identifier: Apache-2.0
! A parallel loop, and the product of matrices, by libgfortran.
program work
  use omp_lib
  implicit none
  integer :: i, j
  integer, parameter :: n = 400
  real(8) :: s
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  allocate (a(n, n), b(n, n), c(n, n))
  a = 1.5d0
  b = 2.5d0
  do j = 1, 40
    s = 0
    !$omp parallel do reduction(+:s)
    do i = 1, 400000
      s = s + sin(dble(i))*sqrt(dble(i))
    end do
    c = matmul(a, b)
    a = c/(2.5d0*n)
  end do
  print '(F20.6)', c(1, 1)
end program
