/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum.c - uses rollups of the timeline inside the window that were made with the stream's rules;
 * state_samples.c sums the time between them from samples and spans.
 */
#include "timeline/sum/state_sum.h"

#include "store/rollup/rollup_walk.h"
#include "store/states/state_rollup.h"
#include "timeline/sum/state_sum_internal.h"

struct rollup_job {
	struct run *run;
	const struct run_part *part;
	const struct state_sum_sink *sink;
	struct state_rules rules; /* in the store's time */
	uint32_t stream, id_in_store;
	uint64_t at_ns, end_ns; /* all before at_ns has been given; run's time */
	unsigned shift_max;
};

struct extent state_sum_rollup_extent(
	struct run *run, const struct run_part *part, const struct store_sum *sum)
{
	uint32_t op = sum->metric >> 4;

	return (struct extent){.context = part->contexts ? part->contexts[sum->context] : sum->context,
		.op = op < STORE_OP_COUNT ? op : run_op_of(run, (unsigned)(part - run->parts), op),
		.state = (enum extent_state)(sum->metric & 15)};
}

static int give_rollup(struct rollup_job *job, const struct store_context_sums *sums, struct error *error)
{
	int code = 0;

	for (uint32_t i = 0; i < sums->count && !code; i++) {
		const struct store_sum *sum = &sums->entries[i];
		struct extent key = state_sum_rollup_extent(job->run, job->part, sum);

		code = job->sink->sum(job->sink->own, &key, sum->weight, sum->samples, error);
	}
	return code;
}

/* True when it is in the window, and in one of the requested buckets. */
static bool fits(const struct rollup_job *job, const struct store_key_rollup *key)
{
	uint64_t first_ns = run_part_time(job->part, key->begin_ns);
	uint64_t last_ns = run_part_time(job->part, store_rollup_last(key->begin_ns, key->shift));

	return first_ns >= job->at_ns && last_ns < job->end_ns &&
	       !run_part_is_bent(job->part, key->begin_ns, store_rollup_last(key->begin_ns, key->shift)) &&
	       state_sum_sink_is_one(job->sink, job->shift_max, first_ns, last_ns);
}

static int walk_to(struct rollup_job *job, uint64_t to_ns, struct error *error)
{
	uint64_t from_ns = job->at_ns;

	if (from_ns >= to_ns)
		return 0;
	job->at_ns = to_ns;
	return state_samples_sum(job->run, job->stream, from_ns, to_ns, job->shift_max, job->sink, error);
}

/* 1: it was given; 0: its rules are not those of the stream. */
static int try_rollup(struct rollup_job *job, const struct store_state_rollup *rollup, struct error *error)
{
	uint64_t begin_ns = run_part_time(job->part, rollup->key.begin_ns);
	bool has_gap = job->at_ns < begin_ns;
	const struct store_context_sums *sums;
	int code = store_state_rollup_read(job->part->reader, rollup, &job->rules, &sums, error);

	if (code <= 0)
		return code;
	if (has_gap)
		code = walk_to(job, begin_ns, error);
	/* The walk has used the reader: its sums are another's now. */
	if (has_gap && !code)
		code = store_state_rollup_read(job->part->reader, rollup, &job->rules, &sums, error);
	code = code == 1 ? give_rollup(job, sums, error) : code;
	job->at_ns = run_part_time(job->part, store_rollup_last(rollup->key.begin_ns, rollup->key.shift)) + 1;
	if (!code && job->sink->reach)
		code = job->sink->reach(job->sink->own, job->at_ns, error);
	return code ? code : 1;
}

/* From the window's begin on, of the rollups that begin together the largest that fits. */
static int sum_rollups(struct rollup_job *job, struct error *error)
{
	uint64_t from_ns = run_part_store_time(job->part, job->at_ns);
	unsigned shift = STORE_SHIFT_MAX;
	struct store_state_rollup rollup;
	int code;

	while ((code = store_state_rollup_find(
			job->part->reader, job->id_in_store, from_ns, shift, &rollup, error)) == 1 &&
		run_part_time(job->part, rollup.key.begin_ns) < job->end_ns) {
		from_ns = rollup.key.begin_ns;
		shift = rollup.key.shift;
		code = fits(job, &rollup.key) ? try_rollup(job, &rollup, error) : 0;
		if (code < 0)
			return code;
		if (code || !shift) {
			from_ns += (uint64_t)1 << shift;
			shift = STORE_SHIFT_MAX;
		} else {
			shift--;
		}
	}
	return code < 0 ? code : walk_to(job, job->end_ns, error);
}

static uint64_t store_edge(const struct run_part *part, uint64_t time_ns)
{
	return time_ns == STORE_OPEN_NS ? time_ns : run_part_store_time(part, time_ns);
}

int state_sum_rollup_rules(struct run *run, uint32_t stream, struct state_rules *rules, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	const struct run_part *part = &run->parts[r->store];
	const struct run_line *line;
	int code = run_line(run, stream, &line, error);

	if (code)
		return code;
	*rules = extent_rules(r, line);
	rules->begin_ns = store_edge(part, rules->begin_ns);
	rules->end_ns = store_edge(part, rules->end_ns);
	rules->first_ns = store_edge(part, rules->first_ns);
	rules->last_ns = store_edge(part, rules->last_ns);
	return 0;
}

int state_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, unsigned shift_max,
	const struct state_sum_sink *sink, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	struct rollup_job job = {.run = run,
		.part = &run->parts[r->store],
		.sink = sink,
		.stream = stream,
		.id_in_store = r->id_in_store,
		.at_ns = begin_ns,
		.end_ns = end_ns,
		.shift_max = shift_max};
	int code = state_sum_rollup_rules(run, stream, &job.rules, error);

	if (code || run->options.no_rollups || begin_ns >= end_ns)
		return code ? code : walk_to(&job, end_ns, error);
	return sum_rollups(&job, error);
}
