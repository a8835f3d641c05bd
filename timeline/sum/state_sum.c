/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum.c - rollups of the line where they lie in the window and were made by the rules that the stream
 * is read by; what lies between them is made of samples and spans (state_samples.c).
 */
#include "timeline/sum/state_sum.h"

#include "store/rollup/rollup_walk.h"
#include "store/states/state_rollup.h"
#include "timeline/sum/state_sum_internal.h"

struct rolled {
	struct run *run;
	const struct run_part *part;
	const struct line_sink *sink;
	struct state_rules rules; /* in the store's time */
	uint32_t stream, id_in_store;
	uint64_t at_ns, end_ns; /* what lies before at_ns has been given; run's time */
	unsigned shift_max;
};

struct extent line_roll_extent(struct run *run, const struct run_part *part, const struct store_sum *sum)
{
	uint32_t op = sum->metric >> 4;

	return (struct extent){.context = part->contexts ? part->contexts[sum->context] : sum->context,
		.op = op < STORE_OP_COUNT ? op : run_op_of(run, (unsigned)(part - run->parts), op),
		.state = (enum extent_state)(sum->metric & 15)};
}

static int give_roll(struct rolled *rolled, const struct store_context_sums *sums, struct error *error)
{
	int code = 0;

	for (uint32_t i = 0; i < sums->count && !code; i++) {
		const struct store_sum *sum = &sums->entries[i];
		struct extent key = line_roll_extent(rolled->run, rolled->part, sum);

		code = rolled->sink->sum(rolled->sink->own, &key, sum->weight, sum->samples, error);
	}
	return code;
}

/* Does it lie in the window, and in one bucket of those asked for? */
static bool fits(const struct rolled *rolled, const struct store_key_rollup *key)
{
	uint64_t first_ns = run_part_time(rolled->part, key->begin_ns);
	uint64_t last_ns = run_part_time(rolled->part, store_rollup_last(key->begin_ns, key->shift));

	return first_ns >= rolled->at_ns && last_ns < rolled->end_ns &&
	       !run_part_is_bent(rolled->part, key->begin_ns, store_rollup_last(key->begin_ns, key->shift)) &&
	       line_sink_is_one(rolled->sink, rolled->shift_max, first_ns, last_ns);
}

static int walk_to(struct rolled *rolled, uint64_t to_ns, struct error *error)
{
	uint64_t from_ns = rolled->at_ns;

	if (from_ns >= to_ns)
		return 0;
	rolled->at_ns = to_ns;
	return line_samples_sum(
		rolled->run, rolled->stream, from_ns, to_ns, rolled->shift_max, rolled->sink, error);
}

/* 1: it was given; 0: its rules are not those of the stream. */
static int try_roll(struct rolled *rolled, const struct store_state_rollup *roll, struct error *error)
{
	uint64_t begin_ns = run_part_time(rolled->part, roll->key.begin_ns);
	bool has_gap = rolled->at_ns < begin_ns;
	const struct store_context_sums *sums;
	int code = store_state_rollup_read(rolled->part->reader, roll, &rolled->rules, &sums, error);

	if (code <= 0)
		return code;
	if (has_gap)
		code = walk_to(rolled, begin_ns, error);
	/* The walk has used the reader: its sums are another's now. */
	if (has_gap && !code)
		code = store_state_rollup_read(rolled->part->reader, roll, &rolled->rules, &sums, error);
	code = code == 1 ? give_roll(rolled, sums, error) : code;
	rolled->at_ns =
		run_part_time(rolled->part, store_rollup_last(roll->key.begin_ns, roll->key.shift)) + 1;
	if (!code && rolled->sink->reach)
		code = rolled->sink->reach(rolled->sink->own, rolled->at_ns, error);
	return code ? code : 1;
}

/* From the window's begin on, of the rollups that begin together the largest that fits. */
static int sum_rolled(struct rolled *rolled, struct error *error)
{
	uint64_t from_ns = run_part_store_time(rolled->part, rolled->at_ns);
	unsigned shift = STORE_SHIFT_MAX;
	struct store_state_rollup roll;
	int code;

	while ((code = store_state_rollup_find(
			rolled->part->reader, rolled->id_in_store, from_ns, shift, &roll, error)) == 1 &&
		run_part_time(rolled->part, roll.key.begin_ns) < rolled->end_ns) {
		from_ns = roll.key.begin_ns;
		shift = roll.key.shift;
		code = fits(rolled, &roll.key) ? try_roll(rolled, &roll, error) : 0;
		if (code < 0)
			return code;
		if (code || !shift) {
			from_ns += (uint64_t)1 << shift;
			shift = STORE_SHIFT_MAX;
		} else {
			shift--;
		}
	}
	return code < 0 ? code : walk_to(rolled, rolled->end_ns, error);
}

static uint64_t store_edge(const struct run_part *part, uint64_t time_ns)
{
	return time_ns == STORE_OPEN_NS ? time_ns : run_part_store_time(part, time_ns);
}

int line_roll_rules(struct run *run, uint32_t stream, struct state_rules *rules, struct error *error)
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

int line_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, unsigned shift_max,
	const struct line_sink *sink, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	struct rolled rolled = {.run = run,
		.part = &run->parts[r->store],
		.sink = sink,
		.stream = stream,
		.id_in_store = r->id_in_store,
		.at_ns = begin_ns,
		.end_ns = end_ns,
		.shift_max = shift_max};
	int code = line_roll_rules(run, stream, &rolled.rules, error);

	if (code || run->options.no_rollups || begin_ns >= end_ns)
		return code ? code : walk_to(&rolled, end_ns, error);
	return sum_rolled(&rolled, error);
}
