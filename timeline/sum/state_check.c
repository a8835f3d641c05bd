/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_check.c - sums the timeline in each rollup's bucket from smaller parts, subtracts the rollup, and
 * checks that nothing remains.
 */
#include "timeline/sum/state_check.h"

#include "store/rollup/rollup_walk.h"
#include "store/states/state_rollup.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/all_streams_check.h"
#include "timeline/sum/device_busy_check.h"
#include "timeline/sum/state_sum.h"

struct check {
	struct run *run;
	const struct run_part *part;
	uint32_t stream, id_in_store;
	struct state_rules rules;
	struct store_context_sums left; /* the timeline minus the rollup */
	uint64_t count;
};

static int add_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct check *check = own;

	store_context_sums_add(
		&check->left, &(struct store_sum){.samples = records,
				      .weight = time_ns,
				      .context = key->context,
				      .metric = store_state_rollup_metric(key->state, key->op)});
	return check->left.failed ? error_memory(error) : 0;
}

static int add_piece(void *own, const struct extent *extent, struct error *error)
{
	return add_sum(own, extent, extent->end_ns - extent->begin_ns, extent->is_record_begin, error);
}

/* Sums are modulo 2^64: taking away is adding. */
static int take_away(struct check *check, const struct store_context_sums *sums, struct error *error)
{
	int code = 0;

	for (uint32_t i = 0; i < sums->count && !code; i++) {
		struct extent key = state_sum_rollup_extent(check->run, check->part, &sums->entries[i]);

		code = add_sum(check, &key, -sums->entries[i].weight, -sums->entries[i].samples, error);
	}
	return code;
}

static int differs(const struct check *check, const struct store_key_rollup *key, struct error *error)
{
	const char *path = check->part->path;

	return error_set(error, ERROR_RUN,
		"'%s' is damaged: the rollup of stream %u's line from %llu ns on, 2^%u ns long, is not what "
		"its "
		"records say; ask with --no-rollups, or use a copy of the run",
		path, check->id_in_store, (unsigned long long)key->begin_ns, key->shift);
}

/* Where records were dropped the rollup is the record; behind that it may know of a sample that is gone. */
static int is_alone(
	const struct check *check, const struct store_key_rollup *key, bool *is_alone, struct error *error)
{
	const struct store_stream *s = &run_stream(check->run, check->stream)->s;
	struct store_record sample;
	int code;

	*is_alone = run_part_time(check->part, key->begin_ns) < s->thinned_ns;
	if (*is_alone || !s->thinned_ns || !check->rules.has_samples)
		return 0;
	code = store_reader_sample_before(
		check->part->reader, check->id_in_store, key->begin_ns + 1, &sample, error);
	*is_alone = code == 0 || run_part_time(check->part, sample.begin_ns) < s->thinned_ns;
	return code < 0 ? code : 0;
}

static int check_rollup(struct check *check, const struct store_state_rollup *rollup, struct error *error)
{
	const struct state_sum_sink sink = {.own = check, .piece = add_piece, .sum = add_sum};
	uint64_t begin_ns = run_part_time(check->part, rollup->key.begin_ns);
	uint64_t end_ns =
		run_part_time(check->part, store_rollup_last(rollup->key.begin_ns, rollup->key.shift)) + 1;
	const struct store_context_sums *sums;
	bool is_record;
	int code = is_alone(check, &rollup->key, &is_record, error);

	if (code || is_record)
		return code;
	code = store_state_rollup_read(check->part->reader, rollup, &check->rules, &sums, error);
	if (code <= 0)
		return code; /* made by other rules: no reader believes it */
	/* One that is bent is never used. */
	if (run_part_is_bent(check->part, rollup->key.begin_ns,
		    store_rollup_last(rollup->key.begin_ns, rollup->key.shift)))
		return 0;
	check->count++;
	store_context_sums_clear(&check->left);
	code = take_away(check, sums, error);
	if (!code)
		code = state_sum(
			check->run, check->stream, begin_ns, end_ns, rollup->key.shift - 1u, &sink, error);
	for (uint32_t i = 0; i < check->left.count && !code; i++)
		if (check->left.entries[i].samples || check->left.entries[i].weight)
			code = differs(check, &rollup->key, error);
	return code;
}

static int check_stream(struct check *check, struct error *error)
{
	struct store_state_rollup rollup;
	uint64_t from_ns = 0;
	unsigned shift = STORE_SHIFT_MAX;
	int code = state_sum_rollup_rules(check->run, check->stream, &check->rules, error);

	while (!code && (code = store_state_rollup_find(check->part->reader, check->id_in_store, from_ns,
				 shift, &rollup, error)) == 1) {
		from_ns = rollup.key.begin_ns;
		shift = rollup.key.shift;
		code = shift ? check_rollup(check, &rollup, error) : 0;
		if (shift)
			shift--;
		else if (from_ns++ == UINT64_MAX)
			break;
		else
			shift = STORE_SHIFT_MAX;
	}
	return code;
}

int state_check(struct run *run, uint64_t *rollups, struct error *error)
{
	struct check check = {.run = run};
	int code = 0;

	for (uint32_t stream = 0; stream < run_stream_count(run) && !code; stream++) {
		const struct run_stream *r = run_stream(run, stream);

		check.stream = stream;
		check.part = &run->parts[r->store];
		check.id_in_store = r->id_in_store;
		code = check_stream(&check, error);
	}
	store_context_sums_fini(&check.left);
	*rollups = check.count;
	code = code ? code : device_busy_check(run, rollups, error);
	return code ? code : all_streams_check(run, rollups, error);
}
