! SPDX-License-Identifier: Apache-2.0
! mpi_late.f90 - the same in Fortran, by the bindings that -DBINDING names: rank 1 is late at each of four sums.
program mpi_late
  use BINDING
  implicit none
  integer :: rank, ierr, i, mine, total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  mine = rank + 1
  do i = 1, 4
    if (rank == 1) call execute_command_line("sleep 0.25")
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) print *, "total", total
  call MPI_Finalize(ierr)
end program
