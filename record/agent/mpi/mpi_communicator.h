/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_communicator.h - MPI's communicators by names that all their processes agree on
 * without a word: `world`, and for one made from another that one's name, how many
 * collective calls it had seen, and the color. `world.3.0` is what rank 0 and those
 * of its color got from the third call on world. One of unknown origin is `0x` and
 * its handle, which means something in its own process alone.
 */
#ifndef RECORD_AGENT_MPI_COMMUNICATOR_H
#define RECORD_AGENT_MPI_COMMUNICATOR_H

#include <stdint.h>

#define MPI_COMMUNICATOR_NAME 40

/* The handles of the two that are there from the beginning. Once. */
void mpi_communicator_init(uint64_t world, uint64_t self);

/* Copies the name. `counts`: this is a collective call on it; returns its number, from 1, else 0. Any
 * thread; never waits for long: where it would, number and name are left out (0 and ""). */
uint64_t mpi_communicator_use(uint64_t handle, int counts, char name[MPI_COMMUNICATOR_NAME]);

/* A new one, made by call `number` of the one called `parent`. Colors below 0: there is none. */
void mpi_communicator_add(uint64_t handle, const char *parent, uint64_t number, int64_t color);

void mpi_communicator_remove(uint64_t handle);

#endif
