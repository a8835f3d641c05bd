/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_kernels.h - all kernels that run at a moment, also overlapping ones of a queue, of which the
 * queue's timeline shows only the last.
 */
#ifndef BLAME_RUNNING_KERNELS_H
#define BLAME_RUNNING_KERNELS_H

#include "blame/base/exact_share.h"

struct running_kernels;

/* Kernels of [begin, end) of the run's clock; reads the run on the calling thread until
 * running_kernels_free(). Errors: no memory; and, where queues are read, of the run (ERROR_RUN: damaged). */
int running_kernels_new(struct running_kernels **running, struct run *run, uint64_t begin_ns, uint64_t end_ns,
	struct error *error);
void running_kernels_free(struct running_kernels *running);
/* Adds the kernels of that stream; call before the first query. */
int running_kernels_add_queue(struct running_kernels *running, uint32_t stream, struct error *error);

/* When the next kernel begins or ends; UINT64_MAX: never. Kernels are cut at the window. */
uint64_t running_kernels_next_ns(const struct running_kernels *running);
/* Processes what ends or begins then. Running kernels are charged the increase of `clock`: kernels that end
 * add their share to `sums`. */
int running_kernels_take(struct running_kernels *running, exact_share_fixed clock,
	struct exact_share_sums *sums, struct error *error);
uint32_t running_kernels_count(const struct running_kernels *running);

#endif
