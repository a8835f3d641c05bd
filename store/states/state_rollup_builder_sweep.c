/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_sweep.c - sweeps the timeline of a stream, piece by piece, into its own buckets, its
 * device's and the sums of all streams.
 */
#include <stdlib.h>

#include "store/base/merge_sort.h"
#include "store/rollup/pending_rollups.h"
#include "store/states/state_rollup_builder_internal.h"

#define PIECES_MANY 12000u /* in a bucket: smaller ones from now on */
#define PIECES_FEW 1400u

/* ---- buckets ---- */

static uint64_t bucket_end(const struct state_builder_bucket *bucket, unsigned size)
{
	return bucket->begin_ns + ((uint64_t)1 << state_builder_shift(size));
}

static void bucket_add(struct state_builder_bucket *bucket, enum extent_state state, uint32_t op,
	uint32_t context, uint64_t records, uint64_t time_ns)
{
	store_context_sums_add(&bucket->sums, &(struct store_sum){.samples = records,
						      .weight = time_ns,
						      .context = context,
						      .metric = store_state_rollup_metric(state, op)});
}

/* Opens the bucket that contains `at_ns`. It is whole if the sweep knows it from its begin, or from the
 * stream's: before that the stream is absent. */
static void bucket_open(struct store_state_builder *builder, unsigned size, uint64_t at_ns)
{
	struct state_builder_bucket *bucket = &builder->sizes[size];
	uint64_t life_ns = builder->line.rules.begin_ns,
		 begin_ns = store_bucket_of(at_ns, state_builder_shift(size));

	store_context_sums_clear(&bucket->sums);
	*bucket = (struct state_builder_bucket){.sums = bucket->sums, .begin_ns = begin_ns, .next_ns = at_ns};
	bucket->is_whole = at_ns == begin_ns;
	if (!bucket->is_whole && at_ns <= life_ns) {
		bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, at_ns - begin_ns);
		bucket->is_whole = true;
	}
}

static void made_add(struct store_state_builder *builder, unsigned size)
{
	struct state_builder_bucket *bucket = &builder->sizes[size];
	struct store_key_rollup key = {.begin_ns = bucket->begin_ns,
		.stream = builder->stream,
		.kind = STORE_ROLLUP_STATES,
		.shift = (uint8_t)state_builder_shift(size)};

	store_bytes_begin_sealed(&builder->value);
	store_state_rollup_put(&builder->value, &key, &builder->line.rules, &bucket->sums);
	store_pending_rollups_add(&builder->made, &key, &builder->value);
}

/* A bucket of the size below is finished: it becomes part of this one. */
static void bucket_join(struct store_state_builder *builder, unsigned size,
	const struct state_builder_bucket *part, uint64_t end_ns)
{
	struct state_builder_bucket *bucket = &builder->sizes[size];
	uint64_t begin_ns = store_bucket_of(part->begin_ns, state_builder_shift(size));

	if (!bucket->next_ns || bucket->begin_ns != begin_ns)
		bucket_open(builder, size, part->begin_ns);
	bucket->is_whole &= part->is_whole && bucket->next_ns == part->begin_ns;
	bucket->next_ns = end_ns;
	bucket->parts++;
	for (uint32_t i = 0; bucket->is_whole && i < part->sums.count; i++)
		store_context_sums_add(&bucket->sums, &part->sums.entries[i]);
}

/* All of the bucket is swept: it is made, and larger ones that end with it. */
static void bucket_finish(struct store_state_builder *builder, unsigned size)
{
	for (;; size++) {
		struct state_builder_bucket *bucket = &builder->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (bucket->is_whole && (size == builder->base || bucket->parts > 1))
			made_add(builder, size);
		if (size < STATE_BUILDER_TOP)
			bucket_join(builder, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
		if (size == STATE_BUILDER_TOP)
			break;
		if (bucket_end(&builder->sizes[size + 1], size + 1) != end_ns)
			break;
	}
}

/* ---- the sweep ---- */

static int compare_spans(const void *a, const void *b)
{
	return state_builder_span_compare(a, b);
}

static uint64_t spans_next(struct state_builder_spans *spans)
{
	if (spans->is_unsorted)
		merge_sort(spans->list + spans->head, spans->count - spans->head, sizeof *spans->list,
			compare_spans); /* a few come late: what was monitored, what was open */
	spans->is_unsorted = false;
	return spans->head < spans->count ? spans->list[spans->head].begin_ns : UINT64_MAX;
}

static int compare_samples(const void *a, const void *b)
{
	return state_builder_sample_compare(a, b);
}

static uint64_t samples_next(struct state_builder_samples *samples)
{
	if (samples->is_unsorted)
		merge_sort(samples->list + samples->head, samples->count - samples->head,
			sizeof *samples->list, compare_samples);
	samples->is_unsorted = false;
	return samples->head < samples->count ? samples->list[samples->head].begin_ns : UINT64_MAX;
}

/* No more is moved than was taken. */
static void samples_shrink(struct state_builder_samples *samples)
{
	if (samples->head < samples->count - samples->head || samples->head == 0)
		return;
	memmove(samples->list, samples->list + samples->head,
		(samples->count - samples->head) * sizeof *samples->list);
	samples->count -= samples->head;
	samples->head = 0;
}

static void spans_shrink(struct state_builder_spans *spans)
{
	if (spans->head < spans->count - spans->head || spans->head == 0)
		return;
	memmove(spans->list, spans->list + spans->head, (spans->count - spans->head) * sizeof *spans->list);
	spans->count -= spans->head;
	spans->head = 0;
}

static bool take_span(struct store_state_builder *builder)
{
	const struct state_builder_span *span = &builder->spans.list[builder->spans.head++];

	return state_timeline_take_span(&builder->line, (struct state_span){.begin_ns = span->begin_ns,
								.end_ns = span->end_ns,
								.context = span->context,
								.op = span->op,
								.state = state_builder_span_state(span)});
}

static void take_sample(struct store_state_builder *builder, const struct state_builder_sample *sample)
{
	state_timeline_take_sample(&builder->line, sample->begin_ns, sample->context);
	if (builder->awaits_sample && sample->begin_ns >= builder->valid_ns) {
		builder->valid_ns = sample->begin_ns;
		builder->awaits_sample = false;
	}
}

/* Takes what begins now or before, samples before spans. */
static bool take_all(struct store_state_builder *builder)
{
	for (;;) {
		uint64_t sample_ns = samples_next(&builder->samples), span_ns = spans_next(&builder->spans);

		if (sample_ns > builder->line.now_ns && span_ns > builder->line.now_ns)
			return true;
		if (sample_ns <= span_ns)
			take_sample(builder, &builder->samples.list[builder->samples.head++]);
		else if (!take_span(builder))
			return false;
	}
}

/* Smaller buckets where they hold much, larger ones where little and the time allows. */
static void base_adapt(struct store_state_builder *builder, uint64_t now_ns)
{
	unsigned base = builder->base;

	if (builder->pieces > PIECES_MANY && base > 1)
		builder->base--;
	else if (builder->pieces < PIECES_FEW && base < STATE_BUILDER_TOP &&
		 store_bucket_of(now_ns, state_builder_shift(base + 1)) == now_ns)
		builder->base++;
	builder->pieces = 0;
}

static void piece_add(struct store_state_builder *builder, const struct state_piece *piece)
{
	/* What the sweep does not know is not counted, and nothing that holds it is made. */
	bool is_known = !builder->awaits_sample && piece->begin_ns >= builder->valid_ns;
	struct state_builder_bucket *bucket;

	if (!is_known)
		state_builder_spoil(builder, piece->begin_ns, piece->end_ns);
	else
		store_all_streams_add(builder->all_streams, piece);
	if (is_known && builder->busy && span_state_is_busy(piece->state))
		store_device_busy_add(
			builder->busy, builder->device_busy_queue, piece->begin_ns, piece->end_ns);
	if (!builder->sizes)
		return;
	bucket = &builder->sizes[builder->base];
	bucket->is_whole &= is_known;
	if (bucket->is_whole)
		bucket_add(bucket, piece->state, piece->op, piece->context, piece->is_record_begin,
			piece->end_ns - piece->begin_ns);
	bucket->next_ns = piece->end_ns;
	builder->pieces++;
}

/* Where the sweep has to stop: at the end of the bucket that is being filled. */
static uint64_t stop_at(struct store_state_builder *builder, uint64_t until_ns)
{
	struct state_builder_bucket *bucket;
	uint64_t end_ns;

	if (!builder->sizes)
		return until_ns;
	bucket = &builder->sizes[builder->base];
	if (!bucket->next_ns)
		bucket_open(builder, builder->base, builder->line.now_ns);
	end_ns = bucket_end(bucket, builder->base);
	return end_ns < until_ns ? end_ns : until_ns;
}

bool state_builder_sweep(struct store_state_builder *builder, uint64_t until_ns)
{
	struct line_walk *line = &builder->line;

	while (line->now_ns < until_ns) {
		struct state_piece piece;

		if (!take_all(builder))
			return false;
		if (state_builder_run(builder, stop_at(builder, until_ns)))
			continue;
		state_timeline_step(line, samples_next(&builder->samples), spans_next(&builder->spans),
			stop_at(builder, until_ns), &piece);
		piece_add(builder, &piece);
		if (builder->sizes &&
			line->now_ns == bucket_end(&builder->sizes[builder->base], builder->base)) {
			bucket_finish(builder, builder->base);
			base_adapt(builder, line->now_ns);
		}
	}
	samples_shrink(&builder->samples);
	spans_shrink(&builder->spans);
	return true;
}

/* What is left of the buckets is absent, up to the one that holds all of its life. */
void state_builder_finish(struct store_state_builder *builder)
{
	uint64_t life_ns = builder->line.rules.begin_ns;

	if (!builder->sizes)
		return;
	for (unsigned size = builder->base; size <= STATE_BUILDER_TOP; size++) {
		struct state_builder_bucket *bucket = &builder->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (!bucket->next_ns) /* it ended with the bucket below */
			continue;
		if (bucket->is_whole && bucket->next_ns < end_ns)
			bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, end_ns - bucket->next_ns);
		if (bucket->is_whole && (size == builder->base || bucket->parts > 1))
			made_add(builder, size);
		if (size == STATE_BUILDER_TOP || bucket->begin_ns <= life_ns)
			break;
		bucket_join(builder, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
	}
}
