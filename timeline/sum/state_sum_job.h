/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum_job.h - for state_samples.c and state_edges.c only: sums one window of one stream from its
 * samples.
 */
#ifndef TIMELINE_STATE_SUM_JOB_H
#define TIMELINE_STATE_SUM_JOB_H

#include "store/rollup/rollup.h"
#include "timeline/sum/state_sum.h"
#include "timeline/sum/state_sum_open.h"

struct state_sum_job {
	struct run *run;
	const struct run_part *part;
	const struct run_line *line;
	const struct state_sum_sink *sink;
	uint32_t stream;
	uint64_t begin_ns, end_ns;
	uint64_t limit_ns; /* of an extent */
	unsigned shift_max;
	struct state_sum_open open; /* ranges in which only samples make the timeline */
	uint64_t at_ns;		    /* all before it has been given */
	uint64_t last_bucket_ns;    /* of the last sum, in the store's time */
	uint64_t clear_ns;	    /* store_line_parts(), likewise */
	uint64_t thinned_ns;	    /* chunks before it may be dropped; 0 if spans may be too */
	bool is_after_sum;	    /* a sample holds at at_ns, and is still to be counted */
	bool is_even;		    /* the last part has been given */
	uint32_t last_context;	    /* its context in the store */
	struct store_batch batch;
};

static inline uint32_t state_sum_job_context(const struct state_sum_job *job, uint32_t context)
{
	return job->part->contexts ? job->part->contexts[context] : context;
}

/* ---- state_edges.c ---- */

/* Before the first rows (from `first` on of the batch) are given: finds the sample that holds at the
 * window's begin, if it was read with them. 0, or negative. */
int state_edge_begin(
	struct state_sum_job *job, const struct store_line_query *query, size_t first, struct error *error);
/* After everything: gives what follows the last sample, where that is known. */
int state_edge_end(struct state_sum_job *job, struct error *error);
/* Gives absent time until there. */
int state_edge_absent(struct state_sum_job *job, uint64_t until_ns, struct error *error);

#endif
