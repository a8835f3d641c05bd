/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_kernels.h - the kernels that run at a moment, all of them: those of a queue that overlap, too, of
 * which its line shows only the last.
 */
#ifndef BLAME_RUNNING_KERNELS_H
#define BLAME_RUNNING_KERNELS_H

#include "blame/base/exact_share.h"

struct running;

/* Kernels of [begin, end) of the run's clock; it reads the run on the thread that calls, until
 * running_free(). Errors are of memory and, where queues are read, of the run (ERROR_RUN: damaged). */
int running_new(
	struct running **running, struct run *run, uint64_t begin_ns, uint64_t end_ns, struct error *error);
void running_free(struct running *running);
/* The kernels of that stream of the run, too. Before the first question. */
int running_add_queue(struct running *running, uint32_t stream, struct error *error);

/* When the next kernel begins or ends; UINT64_MAX: none does any more. Kernels are cut at the window. */
uint64_t running_next_ns(const struct running *running);
/* Takes what ends or begins then. What runs is charged what `clock` gains: kernels that end are given their
 * share in `sums`. */
int running_take(struct running *running, share_fixed clock, struct share_sums *sums, struct error *error);
uint32_t running_count(const struct running *running);

#endif
