/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_check.c - subtracts the smallest buckets from the sums of all streams' timelines, and larger
 * buckets from smaller ones: nothing may remain.
 */
#include "timeline/sum/all_streams_check.h"

#include <stdlib.h>

#include "store/states/all_streams.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"
#include "timeline/sum/state_sum.h"

#define BATCH 512

struct bucket {
	struct store_context_sums left;
	bool is_there;
};

struct check {
	struct run *run;
	unsigned part;
	struct store_all_streams_head head;
	struct bucket *buckets;
	uint64_t first; /* bucket's number */
	uint32_t count;
	uint64_t found;
};

static int differs(const struct check *check, struct error *error)
{
	return error_set(error, ERROR_RUN,
		"'%s' is damaged: the sums of all streams' lines are not what their records say; ask with "
		"--no-rollups, or use a copy of the run",
		check->run->parts[check->part].path);
}

/* Sums are modulo 2^64: taking away is adding. */
static void add_sums(struct check *check, struct store_context_sums *to,
	const struct store_context_sums *sums, bool is_less)
{
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct store_sum *sum = &sums->entries[i];
		struct extent key = state_sum_rollup_extent(check->run, &check->run->parts[check->part], sum);

		store_context_sums_add(
			to, &(struct store_sum){.samples = is_less ? -sum->samples : sum->samples,
				    .weight = is_less ? -sum->weight : sum->weight,
				    .context = key.context,
				    .metric = store_state_rollup_metric(key.state, key.op)});
	}
}

static int is_nothing(const struct check *check, const struct store_context_sums *left, struct error *error)
{
	if (left->failed)
		return error_memory(error);
	for (uint32_t i = 0; i < left->count; i++)
		if (left->entries[i].samples || left->entries[i].weight)
			return differs(check, error);
	return 0;
}

/* ---- the smallest buckets against the lines ---- */

static int take_buckets(struct check *check, struct error *error)
{
	struct store_reader *reader = check->run->parts[check->part].reader;
	const struct store_context_sums *sums;

	for (uint32_t i = 0; i < check->count; i++) {
		int code = store_all_streams_read(
			reader, (check->first + i) << check->head.shift, check->head.shift, &sums, error);

		/* A single one is that of all time. */
		if (!code && check->count == 1)
			code = store_all_streams_read(reader, 0, STORE_SHIFT_MAX, &sums, error);
		if (code < 0)
			return code;
		check->buckets[i].is_there = code;
		check->found += (uint64_t)code;
		if (code)
			add_sums(check, &check->buckets[i].left, sums, true);
	}
	return 0;
}

/* Spreads a piece, in the store's time, over the buckets. */
static void add_piece(struct check *check, const struct extent *extent, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_sum sum = {.samples = extent->is_record_begin,
		.context = extent->context,
		.metric = store_state_rollup_metric(extent->state, extent->op)};

	while (begin_ns < end_ns) {
		uint64_t number = begin_ns >> check->head.shift, stop_ns = (number + 1) << check->head.shift;
		struct bucket *bucket = &check->buckets[number - check->first];

		stop_ns = stop_ns < end_ns ? stop_ns : end_ns;
		sum.weight = stop_ns - begin_ns;
		if (bucket->is_there)
			store_context_sums_add(&bucket->left, &sum);
		sum.samples = 0;
		begin_ns = stop_ns;
	}
}

static int add_line(struct check *check, uint32_t stream, struct error *error)
{
	const struct run_part *part = &check->run->parts[check->part];
	uint64_t begin_ns = run_part_time(part, check->head.begin_ns);
	struct extent extents[BATCH];
	struct extent_walk *walk;
	long count = extent_open(
		&walk, check->run, stream, begin_ns, run_part_time(part, check->head.end_ns), error);

	if (count < 0)
		return (int)count;
	while ((count = extent_next(walk, extents, BATCH, error)) > 0)
		for (long i = 0; i < count; i++)
			if (extents[i].state != EXTENT_ABSENT)
				add_piece(check, &extents[i], run_part_store_time(part, extents[i].begin_ns),
					run_part_store_time(part, extents[i].end_ns));
	extent_close(walk);
	return (int)count;
}

static int check_smallest(struct check *check, struct error *error)
{
	int code = take_buckets(check, error);

	for (uint32_t i = 0; i < run_stream_count(check->run) && !code; i++)
		if (run_stream(check->run, i)->store == check->part &&
			run_stream(check->run, i)->s.kind != STORE_STREAM_GAUGES)
			code = add_line(check, i, error);
	for (uint32_t i = 0; i < check->count && !code; i++)
		code = is_nothing(check, &check->buckets[i].left, error);
	return code;
}

/* ---- larger ones against smaller ones ---- */

/* Adds the buckets of one size in [begin, end); a missing one means that the larger one is wrong. */
static int add_smaller(struct check *check, struct store_context_sums *to, unsigned shift, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct store_reader *reader = check->run->parts[check->part].reader;
	const struct store_context_sums *sums;

	begin_ns = begin_ns > check->head.begin_ns ? begin_ns : check->head.begin_ns;
	end_ns = end_ns < check->head.end_ns ? end_ns : check->head.end_ns;
	for (uint64_t at_ns = store_bucket_of(begin_ns, shift); at_ns < end_ns;
		at_ns += (uint64_t)1 << shift) {
		int code = store_all_streams_read(reader, at_ns, shift, &sums, error);

		if (code != 1)
			return code < 0 ? code : differs(check, error);
		add_sums(check, to, sums, false);
	}
	return 0;
}

static int check_larger(struct check *check, unsigned shift, uint64_t at_ns, struct error *error)
{
	struct store_reader *reader = check->run->parts[check->part].reader;
	bool is_all = shift == STORE_SHIFT_MAX;
	unsigned below = is_all ? check->head.shift : shift - STORE_ALL_STREAMS_STEP;
	struct store_context_sums left = {0};
	const struct store_context_sums *sums;
	int code = store_all_streams_read(reader, at_ns, shift, &sums, error);

	if (code != 1)
		return code;
	check->found++;
	add_sums(check, &left, sums, true);
	code = add_smaller(
		check, &left, below, at_ns, is_all ? UINT64_MAX : at_ns + ((uint64_t)1 << shift), error);
	code = code ? code : is_nothing(check, &left, error);
	store_context_sums_fini(&left);
	return code;
}

static int check_all_larger(struct check *check, struct error *error)
{
	int code = 0;

	if (check->count == 1)
		return 0;
	for (unsigned shift = check->head.shift + STORE_ALL_STREAMS_STEP; shift < 62 && !code;
		shift += STORE_ALL_STREAMS_STEP)
		for (uint64_t at_ns = store_bucket_of(check->head.begin_ns, shift);
			at_ns < check->head.end_ns && !code; at_ns += (uint64_t)1 << shift)
			code = check_larger(check, shift, at_ns, error);
	return code ? code : check_larger(check, STORE_SHIFT_MAX, 0, error);
}

/* ---- all of it ---- */

static int check_part(struct run *run, unsigned p, uint64_t *rollups, struct error *error)
{
	struct check check = {.run = run, .part = p};
	int code = store_all_streams_head(run->parts[p].reader, &check.head, error);

	/* One that is bent is never used. */
	if (code != 1 || check.head.begin_ns >= check.head.end_ns ||
		run_part_is_bent(&run->parts[p], check.head.begin_ns, check.head.end_ns))
		return code < 0 ? code : 0;
	check.first = check.head.begin_ns >> check.head.shift;
	check.count = (uint32_t)(((check.head.end_ns - 1) >> check.head.shift) - check.first) + 1;
	check.buckets = calloc(check.count, sizeof *check.buckets);
	code = check.buckets ? check_smallest(&check, error) : error_memory(error);
	code = code ? code : check_all_larger(&check, error);
	for (uint32_t i = 0; check.buckets && i < check.count; i++)
		store_context_sums_fini(&check.buckets[i].left);
	free(check.buckets);
	*rollups += check.found;
	return code;
}

int all_streams_check(struct run *run, uint64_t *rollups, struct error *error)
{
	int code = 0;

	for (unsigned p = 0; p < run->part_count && !code; p++)
		code = check_part(run, p, rollups, error);
	return code;
}
