/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_name.h - reduces the names of an MPI function in all bindings and libraries to one.
 *
 *   PMPI_Wait MPI_WAIT mpi_wait_ mpi_wait__ pmpi_wait_f08_ mpi_wait_f08ts_ MPI_Wait_c
 *   ompi_wait_f  ->  MPI_Wait
 */
#ifndef BLAME_MPI_NAME_H
#define BLAME_MPI_NAME_H

#include <stdbool.h>

#define MPI_NAME_BYTES 64

/* Writes the C name to `plain`. Also reduces a program's own mpi_exchange_: only a table of names can tell.
 * False: no such name. */
bool mpi_name(char plain[MPI_NAME_BYTES], const char *name);

#endif
