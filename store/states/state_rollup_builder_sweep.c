/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder_sweep.c - the line of a stream, piece by piece, into its own buckets, its device's and
 * the crowd's.
 */
#include <stdlib.h>

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

/* Opens the bucket that holds `at_ns`. It is whole if the sweep knows it from its begin, or from the
 * stream's: what lies before that is absent. */
static void bucket_open(struct store_state_builder *roller, unsigned size, uint64_t at_ns)
{
	struct state_builder_bucket *bucket = &roller->sizes[size];
	uint64_t life_ns = roller->line.rules.begin_ns,
		 begin_ns = store_bucket_of(at_ns, state_builder_shift(size));

	store_context_sums_clear(&bucket->sums);
	*bucket = (struct state_builder_bucket){.sums = bucket->sums, .begin_ns = begin_ns, .next_ns = at_ns};
	bucket->is_whole = at_ns == begin_ns;
	if (!bucket->is_whole && at_ns <= life_ns) {
		bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, at_ns - begin_ns);
		bucket->is_whole = true;
	}
}

static void made_add(struct store_state_builder *roller, unsigned size)
{
	struct state_builder_bucket *bucket = &roller->sizes[size];
	struct store_key_rollup key = {.begin_ns = bucket->begin_ns,
		.stream = roller->stream,
		.kind = STORE_ROLLUP_STATES,
		.shift = (uint8_t)state_builder_shift(size)};

	store_bytes_begin_sealed(&roller->value);
	store_state_rollup_put(&roller->value, &key, &roller->line.rules, &bucket->sums);
	store_pending_rollups_add(&roller->made, &key, &roller->value);
}

/* A bucket of the size below is finished: it becomes part of this one. */
static void bucket_join(struct store_state_builder *roller, unsigned size,
	const struct state_builder_bucket *part, uint64_t end_ns)
{
	struct state_builder_bucket *bucket = &roller->sizes[size];
	uint64_t begin_ns = store_bucket_of(part->begin_ns, state_builder_shift(size));

	if (!bucket->next_ns || bucket->begin_ns != begin_ns)
		bucket_open(roller, size, part->begin_ns);
	bucket->is_whole &= part->is_whole && bucket->next_ns == part->begin_ns;
	bucket->next_ns = end_ns;
	bucket->parts++;
	for (uint32_t i = 0; bucket->is_whole && i < part->sums.count; i++)
		store_context_sums_add(&bucket->sums, &part->sums.entries[i]);
}

/* All of the bucket is swept: it is made, and larger ones that end with it. */
static void bucket_finish(struct store_state_builder *roller, unsigned size)
{
	for (;; size++) {
		struct state_builder_bucket *bucket = &roller->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (bucket->is_whole && (size == roller->base || bucket->parts > 1))
			made_add(roller, size);
		if (size < ROLLER_TOP)
			bucket_join(roller, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
		if (size == ROLLER_TOP)
			break;
		if (bucket_end(&roller->sizes[size + 1], size + 1) != end_ns)
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
		qsort(spans->list + spans->head, spans->count - spans->head, sizeof *spans->list,
			compare_spans);
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
		qsort(samples->list + samples->head, samples->count - samples->head, sizeof *samples->list,
			compare_samples);
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

static bool take_span(struct store_state_builder *roller)
{
	const struct state_builder_span *span = &roller->spans.list[roller->spans.head++];

	return state_timeline_take_span(&roller->line, (struct state_span){.begin_ns = span->begin_ns,
							       .end_ns = span->end_ns,
							       .context = span->context,
							       .op = span->op,
							       .state = state_builder_span_state(span)});
}

static void take_sample(struct store_state_builder *roller, const struct state_builder_sample *sample)
{
	state_timeline_take_sample(&roller->line, sample->begin_ns, sample->context);
	if (roller->awaits_sample && sample->begin_ns >= roller->valid_ns) {
		roller->valid_ns = sample->begin_ns;
		roller->awaits_sample = false;
	}
}

/* Takes what begins now or before, samples before spans. */
static bool take_all(struct store_state_builder *roller)
{
	for (;;) {
		uint64_t sample_ns = samples_next(&roller->samples), span_ns = spans_next(&roller->spans);

		if (sample_ns > roller->line.now_ns && span_ns > roller->line.now_ns)
			return true;
		if (sample_ns <= span_ns)
			take_sample(roller, &roller->samples.list[roller->samples.head++]);
		else if (!take_span(roller))
			return false;
	}
}

/* Smaller buckets where they hold much, larger ones where little and the time allows. */
static void base_adapt(struct store_state_builder *roller, uint64_t now_ns)
{
	unsigned base = roller->base;

	if (roller->pieces > PIECES_MANY && base > 1)
		roller->base--;
	else if (roller->pieces < PIECES_FEW && base < ROLLER_TOP &&
		 store_bucket_of(now_ns, state_builder_shift(base + 1)) == now_ns)
		roller->base++;
	roller->pieces = 0;
}

static void piece_add(struct store_state_builder *roller, const struct state_piece *piece)
{
	/* What the sweep does not know is not counted, and nothing that holds it is made. */
	bool is_known = !roller->awaits_sample && piece->begin_ns >= roller->valid_ns;
	struct state_builder_bucket *bucket;

	if (!is_known)
		state_builder_spoil(roller, piece->begin_ns, piece->end_ns);
	else
		store_all_streams_add(roller->crowd, piece);
	if (is_known && roller->united && span_state_is_busy(piece->state))
		store_device_busy_add(
			roller->united, roller->device_busy_queue, piece->begin_ns, piece->end_ns);
	if (!roller->sizes)
		return;
	bucket = &roller->sizes[roller->base];
	bucket->is_whole &= is_known;
	if (bucket->is_whole)
		bucket_add(bucket, piece->state, piece->op, piece->context, piece->is_record_begin,
			piece->end_ns - piece->begin_ns);
	bucket->next_ns = piece->end_ns;
	roller->pieces++;
}

/* Where the sweep has to stop: at the end of the bucket that is being filled. */
static uint64_t stop_at(struct store_state_builder *roller, uint64_t until_ns)
{
	struct state_builder_bucket *bucket;
	uint64_t end_ns;

	if (!roller->sizes)
		return until_ns;
	bucket = &roller->sizes[roller->base];
	if (!bucket->next_ns)
		bucket_open(roller, roller->base, roller->line.now_ns);
	end_ns = bucket_end(bucket, roller->base);
	return end_ns < until_ns ? end_ns : until_ns;
}

bool state_builder_sweep(struct store_state_builder *roller, uint64_t until_ns)
{
	struct line_walk *line = &roller->line;

	while (line->now_ns < until_ns) {
		struct state_piece piece;

		if (!take_all(roller))
			return false;
		if (state_builder_run(roller, stop_at(roller, until_ns)))
			continue;
		state_timeline_step(line, samples_next(&roller->samples), spans_next(&roller->spans),
			stop_at(roller, until_ns), &piece);
		piece_add(roller, &piece);
		if (roller->sizes && line->now_ns == bucket_end(&roller->sizes[roller->base], roller->base)) {
			bucket_finish(roller, roller->base);
			base_adapt(roller, line->now_ns);
		}
	}
	samples_shrink(&roller->samples);
	spans_shrink(&roller->spans);
	return true;
}

/* What is left of the buckets is absent, up to the one that holds all of its life. */
void state_builder_finish(struct store_state_builder *roller)
{
	uint64_t life_ns = roller->line.rules.begin_ns;

	if (!roller->sizes)
		return;
	for (unsigned size = roller->base; size <= ROLLER_TOP; size++) {
		struct state_builder_bucket *bucket = &roller->sizes[size];
		uint64_t end_ns = bucket_end(bucket, size);

		if (!bucket->next_ns) /* it ended with the bucket below */
			continue;
		if (bucket->is_whole && bucket->next_ns < end_ns)
			bucket_add(bucket, EXTENT_ABSENT, STORE_OP_NONE, 0, 0, end_ns - bucket->next_ns);
		if (bucket->is_whole && (size == roller->base || bucket->parts > 1))
			made_add(roller, size);
		if (size == ROLLER_TOP || bucket->begin_ns <= life_ns)
			break;
		bucket_join(roller, size + 1, bucket, end_ns);
		bucket->next_ns = 0;
	}
}
