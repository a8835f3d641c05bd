/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_name.h - MPI's functions have as many names as there are bindings and libraries; here each has one.
 *
 *   PMPI_Wait MPI_WAIT mpi_wait_ mpi_wait__ pmpi_wait_f08_ mpi_wait_f08ts_ MPI_Wait_c ompi_wait_f  ->
 * MPI_Wait
 */
#ifndef BLAME_MPI_NAME_H
#define BLAME_MPI_NAME_H

#include <stdbool.h>

#define MPI_NAME_BYTES 64

/* The one name, as C has it, into `plain`. A program's own mpi_exchange_ has one, too: only a table of names
 * tells. False: it is no such name. */
bool mpi_name(char plain[MPI_NAME_BYTES], const char *name);

#endif
