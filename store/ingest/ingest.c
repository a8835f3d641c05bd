/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest.c - builders: where a record goes, and when a chunk is closed. ingest_shift.c chooses the bucket
 * size, chunk_write.c encodes chunks, commit.c commits them.
 */
#include "store/ingest/ingest.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/id_table.h"
#include "store/ingest/builder.h"
#include "store/ingest/ingest_shift.h"

#define BUILDERS_MAX 128u
#define BUILDERS_PER_SHIFT 4u /* random times soon have a base of 2^62: these are all its buckets */
#define QUICK 16u	      /* so many that fit are a sign that more will */

/* ---- tracks ---- */

static void track_free(struct store_ingest *ingest, struct store_track_state *track)
{
	if (!track)
		return;
	for (unsigned i = 0; i < track->count; i++)
		store_builder_empty(ingest, &track->builders[i]);
	free(track->builders);
	free(track);
}

void store_ingest_fini(struct store_ingest *ingest)
{
	for (size_t i = 0; i < ingest->track_count; i++)
		track_free(ingest, ingest->tracks[i]);
	free(ingest->tracks);
	free(ingest->active);
	free(ingest->closed);
	free(ingest->whole);
	store_batch_fini(&ingest->parked);
	store_spares_fini(&ingest->spares);
	store_chunk_parked_pool_fini(&ingest->pool);
	store_bytes_fini(&ingest->closed_bytes);
	store_bytes_fini(&ingest->scratch);
	store_chunk_coder_fini(&ingest->coder);
	store_rollup_maker_fini(&ingest->rolls);
	*ingest = (struct store_ingest){0};
}

static struct store_track_state *track_of(
	struct store_ingest *ingest, uint32_t stream, enum store_track track)
{
	size_t at = (size_t)stream * STORE_TRACK_COUNT + track;
	struct store_track_state *state;

	if (!array_reserve_zero(
		    &ingest->tracks, &ingest->track_count, at + 1, sizeof(struct store_track_state *)))
		return NULL;
	state = ingest->tracks[at];
	if (state)
		return state;
	state = calloc(1, sizeof *state);
	if (!state)
		return NULL;
	state->stream = stream;
	state->track = (uint8_t)track;
	state->base_shift = (uint8_t)ingest_shift_most(ingest, INGEST_SHIFT_FIRST);
	ingest->tracks[at] = state;
	return state;
}

uint64_t store_ingest_latest(const struct store_ingest *ingest, uint32_t stream)
{
	size_t at = (size_t)stream * STORE_TRACK_COUNT + STORE_SAMPLES;
	const struct store_track_state *track = at < ingest->track_count ? ingest->tracks[at] : NULL;

	return track ? track->latest_ns : 0;
}

static bool activate(struct store_ingest *ingest, struct store_track_state *track)
{
	struct store_track_state **entry;

	if (track->is_active)
		return true;
	entry = store_id_table_add(
		&ingest->active, &ingest->active_count, &ingest->active_capacity, sizeof *entry);
	if (!entry)
		return false;
	*entry = track;
	track->is_active = true;
	return true;
}

/* ---- where a record goes ---- */

static unsigned shift_of(const struct store_track_state *track, const struct store_record *record)
{
	uint64_t duration = record->end_ns - record->begin_ns;
	unsigned shift = duration > 1 ? 64 - (unsigned)__builtin_clzll(duration - 1) : 0;

	if (shift > STORE_SHIFT_MAX)
		shift = STORE_SHIFT_MAX;
	return shift > track->base_shift ? shift : track->base_shift;
}

static struct store_builder *builder_find(struct store_track_state *track, const struct store_record *record)
{
	unsigned shift = shift_of(track, record);
	uint64_t bucket = store_bucket_of(record->begin_ns, shift);

	for (unsigned i = 0; i < track->count; i++)
		if (track->builders[i].key.shift == shift && track->builders[i].key.bucket_ns == bucket)
			return &track->builders[i];
	return NULL;
}

/* Makes room for one more builder of that shift. */
static void push_out(struct store_ingest *ingest, struct store_track_state *track, unsigned shift)
{
	struct store_builder *oldest = NULL;
	unsigned same = 0;

	for (unsigned i = 0; i < track->count; i++)
		same += track->builders[i].key.shift == shift;
	if (same < BUILDERS_PER_SHIFT && track->count < BUILDERS_MAX)
		return;
	for (unsigned i = 0; i < track->count; i++) {
		struct store_builder *builder = &track->builders[i];

		if (same >= BUILDERS_PER_SHIFT && builder->key.shift != shift)
			continue;
		if (!oldest || builder->order < oldest->order)
			oldest = builder;
	}
	store_builder_close(ingest, track, oldest);
}

static bool builders_reserve(struct store_track_state *track)
{
	unsigned capacity = track->capacity ? track->capacity * 2u : 2;

	if (track->count < track->capacity)
		return true;
	if (!array_resize(&track->builders, capacity, sizeof *track->builders))
		return false;
	track->capacity = (uint8_t)capacity;
	return true;
}

static struct store_builder *builder_open(
	struct store_ingest *ingest, struct store_track_state *track, const struct store_record *record)
{
	struct store_builder *builder;
	unsigned shift;

	/* A flight recording may have begun behind the track's first records. */
	track->base_shift = (uint8_t)ingest_shift_most(ingest, track->base_shift);
	if (shift_of(track, record) == track->base_shift)
		ingest_shift_next(ingest, track, record);
	builder = builder_find(track, record);
	if (builder)
		return builder;
	shift = shift_of(track, record);
	push_out(ingest, track, shift);
	if (!builders_reserve(track)) {
		ingest->failed = true;
		return NULL;
	}
	store_rollup_front_open(&track->front, store_bucket_of(record->begin_ns, shift));
	store_builders_pass(ingest, track, store_bucket_of(record->begin_ns, shift), shift);
	builder = &track->builders[track->count++];
	*builder = (struct store_builder){.key = {.bucket_ns = store_bucket_of(record->begin_ns, shift),
						  .stream = track->stream,
						  .track = track->track,
						  .shift = (uint8_t)shift},
		.expected = track->expected,
		.min_ns = record->begin_ns,
		.max_ns = record->begin_ns};
	return builder;
}

/* ---- appending ---- */

static struct store_builder *builder_for(
	struct store_ingest *ingest, struct store_track_state *track, const struct store_record *record)
{
	struct store_builder *builder = builder_find(track, record);

	if (builder && builder->count == STORE_CHUNK_RECORDS_MAX) {
		ingest_shift_full(track, builder);
		store_builder_close(ingest, track, builder);
		builder = builder_find(track, record);
	}
	if (!builder)
		builder = builder_open(ingest, track, record);
	if (builder && builder->count && !builder->records)
		store_builder_unpark(ingest, builder);
	return builder;
}

static bool is_clean(const struct store_record *record, enum store_track track)
{
	if (record->begin_ns == UINT64_MAX || record->end_ns < record->begin_ns)
		return false;
	return track == STORE_SPANS ? record->end_ns != STORE_OPEN_NS : record->end_ns == record->begin_ns;
}

/* Corrects impossible values to the nearest possible ones: a caller's mistake must not make the store
 * unreadable. */
static struct store_record cleaned(struct store_record record, enum store_track track)
{
	if (record.begin_ns == UINT64_MAX)
		record.begin_ns--;
	if (record.end_ns == STORE_OPEN_NS)
		record.end_ns--;
	if (track != STORE_SPANS || record.end_ns < record.begin_ns)
		record.end_ns = record.begin_ns;
	return record;
}

/* How many of the records, from the first, which does, this builder takes. */
static uint32_t run_length(const struct store_track_state *track, const struct store_builder *builder,
	const struct store_record *records, size_t count)
{
	const uint64_t width_mask = ~(uint64_t)0 << builder->key.shift;
	uint32_t room = STORE_CHUNK_RECORDS_MAX - builder->count, length = 1;

	if (count < room)
		room = (uint32_t)count;
	for (; length < room; length++) {
		const struct store_record *record = &records[length];

		if ((record->begin_ns & width_mask) != builder->key.bucket_ns ||
			!is_clean(record, track->track))
			break;
		if (track->track == STORE_SPANS && shift_of(track, record) != builder->key.shift)
			break;
	}
	return length;
}

/* How many of the records, one at least, are in order, from the first on. */
static uint32_t order_length(const struct store_record *first, const struct store_record *end)
{
	const struct store_record *at = first + 1;

	while (at < end && (at->begin_ns > at[-1].begin_ns || store_record_compare(at - 1, at) <= 0))
		at++;
	return (uint32_t)(at - first);
}

/* So many more stand behind the others, and are in the survey if those are. `rises`: they surely do. */
static void builder_added(
	struct store_ingest *ingest, struct store_builder *builder, uint32_t count, bool rises)
{
	const struct store_record *to = store_builder_end(builder), *last = builder->count ? to - 1 : to;
	uint32_t ordered;

	if (rises && (last == to || last->begin_ns < to->begin_ns))
		ordered = (uint32_t)(to + count - last);
	else
		ordered = order_length(last, to + count);
	builder->max_ns =
		last[ordered - 1].begin_ns > builder->max_ns ? last[ordered - 1].begin_ns : builder->max_ns;
	builder->min_ns = to->begin_ns < builder->min_ns ? to->begin_ns : builder->min_ns;
	for (last += ordered; last < to + count; last++) {
		builder->is_unsorted = true;
		builder->min_ns = last->begin_ns < builder->min_ns ? last->begin_ns : builder->min_ns;
		builder->max_ns = last->begin_ns > builder->max_ns ? last->begin_ns : builder->max_ns;
	}
	if (!builder->count)
		builder->first = *to;
	if (builder->surveyed == builder->count)
		builder->surveyed += count;
	builder->fresh += count;
	ingest->fresh_bytes += count * sizeof *to;
	store_builder_added(ingest, builder, count);
}

/* How many of them; 0: no memory. */
static uint32_t builder_add(struct store_ingest *ingest, struct store_builder *builder,
	const struct store_record *records, uint32_t count)
{
	count = store_builder_reserve(ingest, builder, count);
	if (!count)
		return 0;
	memcpy(store_builder_end(builder), records, count * sizeof *records);
	if (builder->surveyed == builder->count)
		store_chunk_stats_add(
			&builder->survey, builder->count ? &builder->first : records, records, count);
	builder_added(ingest, builder, count, false);
	return count;
}

/* Takes those records, from the first on, that surely fit this base bucket, without looking at each of them;
 * how many. */
static uint32_t builder_take(struct store_ingest *ingest, const struct store_track_state *track,
	struct store_builder *builder, const struct store_record *records, size_t count)
{
	const uint64_t width_ns = (uint64_t)1 << builder->key.shift;
	const struct store_chunk_stats_bounds bounds = {
		.width_ns = width_ns, .longest_ns = track->track == STORE_SPANS ? width_ns : 1};
	uint32_t room = STORE_CHUNK_RECORDS_MAX - builder->count, taken;
	struct store_record *to;
	bool rises = true;

	/* No sum of two widths is beyond time itself. */
	if (builder->key.shift != track->base_shift || builder->key.shift >= INGEST_SHIFT_MAX ||
		builder->key.bucket_ns > UINT64_MAX - 2 * width_ns || builder->surveyed != builder->count)
		return 0;
	room = count < room ? (uint32_t)count : room;
	/* The count is unknown, so start with a small buffer. */
	if (!store_builder_reserve(ingest, builder, room < QUICK ? room : QUICK))
		return 0;
	to = store_builder_end(builder);
	if (room > builder->records + builder->capacity - to)
		room = (uint32_t)(builder->records + builder->capacity - to);
	taken = store_chunk_stats_take(&builder->survey, &bounds, builder->count ? &builder->first : records,
		records, room, to, &rises);
	if (taken)
		builder_added(ingest, builder, taken, rises);
	return taken;
}

/* `is_quick`: many fit, as far as is known. */
static uint32_t append_run(struct store_ingest *ingest, struct store_track_state *track,
	const struct store_record *records, size_t count, uint64_t *shifts, bool *is_quick)
{
	struct store_record slow;
	struct store_builder *builder;
	uint32_t length = 0;

	if (!is_clean(records, track->track)) {
		slow = cleaned(*records, track->track);
		records = &slow;
		count = 1;
	}
	builder = builder_for(ingest, track, records);
	if (!builder)
		return 0;
	builder->used = ingest->tick;
	builder->order = ++track->order;
	*shifts |= (uint64_t)1 << builder->key.shift;
	if (*is_quick && count > 1)
		length = builder_take(ingest, track, builder, records, count);
	if (!length) {
		length = run_length(track, builder, records, count);
		length = builder_add(ingest, builder, records, length);
	}
	if (!length)
		return 0;
	*is_quick = length >= QUICK;
	track->latest_ns = builder->max_ns > track->latest_ns ? builder->max_ns : track->latest_ns;
	return length;
}

bool store_ingest_append(struct store_ingest *ingest, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count, uint64_t *shifts)
{
	struct store_track_state *state = track_of(ingest, stream, track);
	bool is_quick = true;

	if (!state || !activate(ingest, state)) {
		ingest->failed = true;
		return false;
	}
	while (count) {
		uint32_t length = append_run(ingest, state, records, count, shifts, &is_quick);

		if (!length)
			return false;
		records += length;
		count -= length;
	}
	return true;
}
