/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_kernels.h - the kernels that run at a moment, all of them: those of a queue that overlap, too, of
 * which its line shows only the last.
 */
#ifndef BLAME_RUNNING_KERNELS_H
#define BLAME_RUNNING_KERNELS_H

#include "blame/base/exact_share.h"

struct running_kernels;

/* Kernels of [begin, end) of the run's clock; it reads the run on the thread that calls, until
 * running_kernels_free(). Errors are of memory and, where queues are read, of the run (ERROR_RUN: damaged).
 */
int running_kernels_new(struct running_kernels **running, struct run *run, uint64_t begin_ns, uint64_t end_ns,
	struct error *error);
void running_kernels_free(struct running_kernels *running);
/* The kernels of that stream of the run, too. Before the first question. */
int running_kernels_add_queue(struct running_kernels *running, uint32_t stream, struct error *error);

/* When the next kernel begins or ends; UINT64_MAX: none does any more. Kernels are cut at the window. */
uint64_t running_kernels_next_ns(const struct running_kernels *running);
/* Takes what ends or begins then. What runs is charged what `clock` gains: kernels that end are given their
 * share in `sums`. */
int running_kernels_take(struct running_kernels *running, exact_share_fixed clock,
	struct exact_share_sums *sums, struct error *error);
uint32_t running_kernels_count(const struct running_kernels *running);

#endif
