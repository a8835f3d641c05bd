/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_communicator.h - names MPI communicators so that all their processes compute the same name without
 * communication: `world`; a derived one is named by its parent's name, the number of collective calls on the
 * parent, and the color. `world.3.0` is the communicator of rank 0 and its color from the third call on
 * world. One of unknown origin is `0x` and its handle, which is meaningful in its own process only.
 */
#ifndef RECORD_AGENT_MPI_COMMUNICATOR_H
#define RECORD_AGENT_MPI_COMMUNICATOR_H

#include <stdint.h>

#define MPI_COMMUNICATOR_NAME 40

/* Sets the handles of the two predefined communicators. Once. */
void mpi_communicator_init(uint64_t world, uint64_t self);

/* Copies the name. `counts`: this is a collective call on it; returns its number, from 1, else 0. Thread
 * safe; never blocks for long: on contention it returns 0 and "". */
uint64_t mpi_communicator_use(uint64_t handle, int counts, char name[MPI_COMMUNICATOR_NAME]);

/* Adds a communicator made by call `number` on the one named `parent`. Negative color: none. */
void mpi_communicator_add(uint64_t handle, const char *parent, uint64_t number, int64_t color);

void mpi_communicator_remove(uint64_t handle);

#endif
