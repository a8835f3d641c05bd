/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_shared.h - the processes of a run shared among the ranks of an MPI job (timeline/sum/mpi_ranks.h):
 * each rank sweeps some of the groups, rank 0 adds up what all found. Sums are of fixed point, so that they
 * are the same to the last bit, whoever adds them in which order. Gaps go with them, unless memory is
 * bounded: then every rank lists them all.
 */
#ifndef BLAME_IDLE_SHARED_H
#define BLAME_IDLE_SHARED_H

#include "blame/idle/idle_group.h"

/* Whether this rank is to sweep that one of the groups, counted from 0. */
bool idle_shared_is_own(const struct idle_question *question, uint32_t number);
/* Whether what this rank knows is a part alone: nothing can be said of it. */
bool idle_shared_is_part(const struct idle_question *question);
/* After all of so many groups: rank 0's sums are those of all from now on, the others' are their own.
 * ERROR_IO: a rank has ended; ERROR_RUN: it sees another run. */
int idle_shared_gather(struct group *group, uint32_t groups, struct error *error);

#endif
