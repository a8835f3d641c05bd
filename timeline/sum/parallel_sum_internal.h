/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sum_internal.h - shared by parallel_sum.c and parallel_sum_ranks.c: what is to be summed. */
#ifndef TIMELINE_PARALLEL_SUM_INTERNAL_H
#define TIMELINE_PARALLEL_SUM_INTERNAL_H

#include "timeline/sum/parallel_sum.h"

struct parallel_sum_job {
	struct run *run;
	const uint32_t *streams;
	uint32_t count;
	uint64_t begin_ns, end_ns;
	parallel_sum_add *add;
	void *own;
};

/* Adds the job's streams [from, to), in this process. */
int parallel_sum_add_all(const struct parallel_sum_job *job, uint32_t from, uint32_t to,
	struct window *window, struct error *error);
/* Adds all streams: each rank its own part, rank 0 also the others' results. */
int parallel_sum_ranks(const struct parallel_sum_job *job, struct window *window, struct error *error);

#endif
