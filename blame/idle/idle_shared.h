/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_shared.h - shares the processes of a run among the ranks of an MPI job (timeline/sum/mpi_ranks.h):
 * each rank sweeps some of the groups, and rank 0 adds all results. Sums are fixed-point, so the result is
 * the same bit for bit in any order. Gaps are sent too, unless memory is bounded: then every rank lists all
 * gaps.
 */
#ifndef BLAME_IDLE_SHARED_H
#define BLAME_IDLE_SHARED_H

#include "blame/idle/idle_group.h"

/* True when this rank must sweep that group, counted from 0. */
bool idle_shared_is_own(const struct idle_question *question, uint32_t number);
/* True when this rank has only part of the result, and must not print it. */
bool idle_shared_is_part(const struct idle_question *question);
/* After all groups: rank 0's sums become those of all ranks; the others keep their own. ERROR_IO: a rank has
 * ended; ERROR_RUN: it sees another run. */
int idle_shared_gather(struct group *group, uint32_t groups, struct error *error);

#endif
