/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_edges.c - the edges of a window that cuts a stream's samples: the sample that holds at its begin was
 * mostly read with those after it, and the last one holds to its end. So neither needs a search.
 *
 *   chunk     s s s s s s s s s s s s s      before the window's begin: the row in front of its first
 *   window        [ . . . . . . . )
 *   given         |-| rows      |-|
 *   late  s  s                               a skipped chunk of the same bucket: its last sample may hold
 */
#include <stdlib.h>

#include "timeline/sum/state_sum_job.h"

/* Are all buckets that may hold samples between the two moments of the query's parts? */
static bool are_among_parts(const struct state_sum_job *job, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t shifts = run_stream(job->run, job->stream)->s.shifts[STORE_SAMPLES];

	for (; shifts; shifts &= shifts - 1) {
		const unsigned shift = (unsigned)__builtin_ctzll(shifts);

		if (from_ns >> shift != to_ns >> shift)
			return false;
	}
	return true;
}

/* True when only samples make the timeline from there to the window's begin. */
static int is_open_before(struct state_sum_job *job, uint64_t from_ns, struct error *error)
{
	const struct store_stream *s = &run_stream(job->run, job->stream)->s;
	struct state_sum_open before = {0};
	int code;

	if (s->end_ns != STORE_OPEN_NS &&
		s->count[STORE_SPANS] <= 1) /* which is known if it is in the window */
		return state_sum_open_holds(&job->open, from_ns, job->begin_ns);
	code = state_sum_open_find(
		&before, job->run, job->stream, job->line, from_ns, job->begin_ns + 1, false, error);
	if (!code)
		code = state_sum_open_holds(&before, from_ns, job->begin_ns);
	free(before.at);
	return code;
}

/* Of several samples at one moment, the owner need not be the last: checks the row before. */
static bool is_of_its_moment_alone(const struct store_batch *batch, size_t row)
{
	return row && batch->begin_ns[row - 1] != batch->begin_ns[row];
}

/* The sample in force at the window's begin may have been read with those behind it: `first` is in it. */
int state_edge_begin(
	struct state_sum_job *job, const struct store_line_query *query, size_t first, struct error *error)
{
	const struct store_batch *batch = &job->batch;
	const size_t before = first - 1;
	uint64_t before_ns;
	int code;

	if (job->at_ns > job->begin_ns || job->is_after_sum || !first ||
		batch->begin_ns[first] <= query->begin_ns || !is_of_its_moment_alone(batch, before) ||
		batch->begin_ns[before] < job->clear_ns || !(batch->flags[before] & STORE_RECORD_EXTENT) ||
		batch->begin_ns[first] - batch->begin_ns[before] > job->limit_ns || job->thinned_ns ||
		run_part_is_bent(job->part, batch->begin_ns[before], batch->begin_ns[first]) ||
		!are_among_parts(job, batch->begin_ns[before], query->begin_ns))
		return 0;
	before_ns = run_part_time(job->part, batch->begin_ns[before]);
	code = is_open_before(job, before_ns, error);
	if (code == 1) {
		job->is_after_sum = true;
		job->last_context = batch->context[before];
	}
	return code < 0 ? code : 0;
}

/* Outside its life the stream is absent. */
int state_edge_absent(struct state_sum_job *job, uint64_t until_ns, struct error *error)
{
	const struct extent piece = {.begin_ns = job->at_ns,
		.end_ns = until_ns < job->end_ns ? until_ns : job->end_ns,
		.op = STORE_OP_NONE,
		.state = EXTENT_ABSENT};

	if (piece.begin_ns >= piece.end_ns)
		return 0;
	job->at_ns = piece.end_ns;
	return job->sink->piece(job->sink->own, &piece, error);
}

/* The last sample of the window is in force at its end, too, or at that of its life. */
int state_edge_end(struct state_sum_job *job, struct error *error)
{
	struct extent piece = {.begin_ns = job->at_ns,
		.end_ns = job->end_ns < job->line->end_ns ? job->end_ns : job->line->end_ns,
		.context = job->is_after_sum ? state_sum_job_context(job, job->last_context) : 0,
		.op = STORE_OP_NONE,
		.state = EXTENT_WORK};
	int code;

	if (!job->is_even || !job->is_after_sum || job->at_ns >= piece.end_ns ||
		piece.end_ns - job->at_ns > job->limit_ns || job->thinned_ns ||
		!state_sum_open_holds(&job->open, job->at_ns, piece.end_ns - 1))
		return 0;
	job->at_ns = piece.end_ns;
	code = job->sink->piece(job->sink->own, &piece, error);
	return code ? code : state_edge_absent(job, job->end_ns, error);
}
