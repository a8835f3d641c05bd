/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder.c - decides which streams have a builder, and how far each may sweep.
 */
#include <stdlib.h>

#include "store/base/attribute.h"
#include "store/base/id_table.h"
#include "store/ingest/ingest.h"
#include "store/states/state_rollup_builder_internal.h"

#define BASE_FIRST 10u /* 2^30 ns, where no period tells */
#define SWITCHES_NOT_SAID UINT64_MAX
#define BASE_RECORDS 4096u	     /* in a bucket, about */
#define TIME_MAX (UINT64_C(1) << 62) /* buckets of all sizes end before the end of time */

/* ---- streams ---- */

/* No more rollups of this stream; what was made is kept, and torn where a late record comes. */
static void state_builder_end(struct store_state_builder *builder)
{
	state_timeline_fini(&builder->line);
	free(builder->samples.list);
	builder->samples = (struct state_builder_samples){0};
	free(builder->spans.list);
	builder->spans = (struct state_builder_spans){0};
	for (unsigned size = 0; builder->sizes && size <= ROLLER_TOP; size++)
		store_context_sums_fini(&builder->sizes[size].sums);
	free(builder->sizes);
	builder->sizes = NULL;
	store_bytes_fini(&builder->value);
	builder->is_over = true;
}

void state_builder_free(struct store_state_builder *builder)
{
	if (!builder)
		return;
	state_builder_end(builder);
	store_bytes_fini(&builder->made);
	free(builder);
}

void store_state_builders_fini(struct store_state_builders *builders)
{
	for (uint32_t i = 0; i < builders->count; i++)
		state_builder_free(builders->places[i].builder);
	free(builders->places);
	free(builders->tally);
	store_all_streams_fini(&builders->all_streams);
	store_devices_busy_fini(&builders->devices);
	*builders = (struct store_state_builders){0};
}

static struct state_builder_place *place_of(struct store_state_builders *builders, uint32_t stream)
{
	while (builders->count <= stream)
		if (!store_id_table_add((void **)&builders->places, &builders->count, &builders->capacity,
			    sizeof *builders->places)) {
			builders->failed = true;
			return NULL;
		}
	return &builders->places[stream];
}

static void monitored_note(
	struct store_state_builder *builder, const struct store_record *span, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, span->attributes);
	struct state_rules *rules = &builder->line.rules;
	uint64_t switches;

	rules->has_monitored = true;
	if (!rules->period_ns)
		rules->period_ns = attribute_number((const char *)text.bytes, text.size, "period_ns", 0);
	switches = attribute_number((const char *)text.bytes, text.size, "switches", SWITCHES_NOT_SAID);
	builder->is_switches_said |= switches != SWITCHES_NOT_SAID;
	if (switches && switches != SWITCHES_NOT_SAID)
		state_builder_note_switches(builder);
}

/* The base that holds about BASE_RECORDS of them. */
static unsigned base_of(uint64_t period_ns)
{
	unsigned base = 1;

	if (!period_ns)
		return BASE_FIRST;
	while (base < ROLLER_TOP && (uint64_t)1 << state_builder_shift(base + 1) <= period_ns * BASE_RECORDS)
		base++;
	return base;
}

static struct store_state_builder *state_builder_new(struct store_state_builders *builders,
	struct state_builder_place *place, uint32_t stream, const struct store_stream *properties,
	const struct store_texts *texts)
{
	struct store_state_builder *builder;

	if (!builders->tally)
		builders->tally = state_builder_tally_new();
	builder = builders->tally ? calloc(1, sizeof *builder) : NULL;
	if (!builder)
		return NULL;
	builder->tally = builders->tally;
	builder->all_streams = &builders->all_streams;
	builder->line.names = builders->names;
	builder->stream = stream;
	builder->torn_ns = UINT64_MAX;
	builder->monitored_ns = UINT64_MAX;
	builder->line.rules.is_gpu = properties->kind == STORE_STREAM_GPU;
	builder->line.rules.has_samples = !builder->line.rules.is_gpu && properties->count[STORE_SAMPLES];
	if (place->has_monitored) {
		struct store_record span = place->monitored;

		monitored_note(builder, &span, texts);
		if (span.end_ns == STORE_OPEN_NS)
			builder->monitored_ns = span.begin_ns;
		if (!state_builder_wait_span(builder, &span, texts)) {
			state_builder_free(builder);
			return NULL;
		}
	}
	if (builder->line.rules.is_gpu && !builders->is_thinned) {
		builder->united = store_device_busy_join(
			&builders->devices, stream, properties, &builder->device_busy_queue);
		if (!builder->united) {
			state_builder_free(builder);
			return NULL;
		}
	}
	place->builder = builder;
	builders->live++;
	return builder;
}

/* From here on the stream gets rollups of its own. */
static bool rolls_begin(struct store_state_builder *builder)
{
	builder->sizes = calloc(STORE_STATE_ROLLUP_SIZES, sizeof *builder->sizes);
	builder->base = base_of(builder->line.rules.period_ns);
	return builder->sizes != NULL;
}

static bool announces_switches(const struct store_record *monitored, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, monitored->attributes);

	return attribute_number((const char *)text.bytes, text.size, "switches", 0) != 0;
}

static bool needs_builder(const struct store_stream *properties, enum store_track track,
	const struct store_record *record, const struct store_texts *texts)
{
	enum span_kind kind;

	if (properties->kind == STORE_STREAM_GPU)
		return true;
	if (track != STORE_SPANS)
		return false;
	kind = span_kind_of(record->what, false, true);
	return kind == SPAN_KIND_SYNC || kind == SPAN_KIND_BLOCKED || kind == SPAN_KIND_RUNNABLE ||
	       (kind == SPAN_KIND_MONITORED && announces_switches(record, texts));
}

static void monitored_set(struct store_state_builders *builders, struct state_builder_place *place,
	const struct store_record *span)
{
	const struct store_record *last = &place->monitored;
	bool is_its_end = last->end_ns == STORE_OPEN_NS && last->begin_ns == span->begin_ns;

	if (place->has_monitored && !place->builder && !is_its_end)
		state_builder_pass_until(place, last->end_ns);
	/* Which of them readers go by depends on where they meet them. */
	if (place->has_monitored && place->monitored.attributes != span->attributes)
		store_all_streams_give_up(&builders->all_streams);
	place->monitored = *span;
	place->has_monitored = true;
}

/* The builder may come into being in the middle of the stream: what was before is not known. */
static bool state_builder_begin(struct store_state_builders *builders, struct state_builder_place *place,
	uint32_t stream, const struct store_stream *properties, uint64_t now_ns,
	const struct store_texts *texts)
{
	struct store_state_builder *builder = state_builder_new(builders, place, stream, properties, texts);

	if (!builder)
		return false;
	builder->valid_ns = place->passed_ns;
	if (properties->kind == STORE_STREAM_CPU && properties->count[STORE_SAMPLES]) {
		uint64_t latest_ns = builders->ingest ? store_ingest_latest(builders->ingest, stream) : 0;

		now_ns = latest_ns < now_ns ? now_ns : latest_ns + 1;
		builder->valid_ns = now_ns > place->passed_ns ? now_ns : place->passed_ns;
		builder->awaits_sample = true;
	}
	return true;
}

/* False: memory is out. */
static bool monitored_take(struct store_state_builders *builders, struct state_builder_place *place,
	const struct store_record *span, const struct store_texts *texts)
{
	struct store_state_builder *builder = place->builder;

	monitored_set(builders, place, span);
	if (!builder)
		return true;
	monitored_note(builder, span, texts);
	if (builder->monitored_ns == span->begin_ns && span->end_ns != STORE_OPEN_NS) {
		state_builder_monitored_end(builder, span);
		return true;
	}
	if (span->end_ns == STORE_OPEN_NS) {
		if (builder->monitored_ns != UINT64_MAX)
			return true;
		builder->monitored_ns = span->begin_ns;
	}
	return state_builder_wait_span(builder, span, texts);
}

/* After the last rollup: late records still delete. */
static void late_only(struct store_state_builder *builder, const struct store_record *records, size_t count)
{
	for (size_t i = 0; i < count && builder->has_begun; i++)
		if (state_builder_is_late(builder, &records[i]))
			state_builder_tear(builder, records[i].begin_ns, 0);
}

static bool record_take(struct store_state_builders *builders, struct state_builder_place *place,
	uint32_t stream, const struct store_stream *properties, enum store_track track,
	const struct store_record *record, const struct store_texts *texts)
{
	bool is_monitored = track == STORE_SPANS && record->what == STORE_OP_MONITORED;
	bool needs_rolls = needs_builder(properties, track, record, texts);

	if (is_monitored && !monitored_take(builders, place, record, texts))
		return false;
	if (!place->builder && (needs_rolls || !store_all_streams_is_idle(&builders->all_streams)) &&
		!state_builder_begin(builders, place, stream, properties, record->begin_ns, texts))
		return false;
	if (place->builder && needs_rolls && !place->builder->sizes && !rolls_begin(place->builder))
		return false;
	if (is_monitored)
		return true;
	if (!place->builder) {
		state_builder_pass(place, track, record);
		return true;
	}
	return track == STORE_SAMPLES ? state_builder_wait_sample(place->builder, record)
				      : state_builder_wait_span(place->builder, record, texts);
}

void store_state_builders_append(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts)
{
	struct state_builder_place *place =
		builders->failed || track == STORE_VALUES ? NULL : place_of(builders, stream);

	if (!place)
		return;
	state_builder_retire(builders, place);
	if (!place->builder && track == STORE_SAMPLES && properties->kind == STORE_STREAM_CPU &&
		store_all_streams_is_idle(&builders->all_streams)) {
		place->is_passed = true;
		return;
	}
	if (place->builder && place->builder->is_over) {
		late_only(place->builder, records, count);
		return;
	}
	if (place->builder && track == STORE_SAMPLES && properties->kind == STORE_STREAM_CPU) {
		builders->failed = !state_builder_wait_samples(place->builder, records, count);
		state_builder_doze(builders, place->builder);
		return;
	}
	for (size_t i = 0; i < count && !builders->failed; i++) {
		size_t taken = 0;

		if (track == STORE_SPANS && place->builder)
			taken = state_builder_wait_spans(
				place->builder, records + i, count - i, texts, false);
		else if (track == STORE_SPANS && properties->kind == STORE_STREAM_CPU &&
			 store_all_streams_is_idle(&builders->all_streams))
			taken = state_builder_pass_alike(place, records + i, count - i);
		if (taken == count - i)
			return;
		builders->failed = taken == SIZE_MAX || !record_take(builders, place, stream, properties,
								track, &records[i += taken], texts);
	}
}

void store_state_builders_open(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, const struct store_record *record,
	const struct store_texts *texts)
{
	struct state_builder_place *place = builders->failed ? NULL : place_of(builders, stream);
	struct store_record open = *record;

	open.end_ns = STORE_OPEN_NS;
	if (place && open.what == STORE_OP_MONITORED && !(place->builder && place->builder->is_over))
		builders->failed =
			!record_take(builders, place, stream, properties, STORE_SPANS, &open, texts);
}

/* ---- commits ---- */

/* Learns life and edges, as far as known. False: the timeline cannot be swept yet. */
static bool rules_learn(
	struct store_state_builder *builder, const struct store_stream *properties, uint64_t *until_ns)
{
	struct state_rules *rules = &builder->line.rules;
	bool has_life = properties->end_ns > properties->begin_ns;

	/* Without a life or a `monitored` span these are the first and the last record: readers sweep. */
	if (!has_life || !rules->has_monitored)
		return false;
	if (builder->has_begun && rules->begin_ns != properties->begin_ns) {
		store_all_streams_give_up(builder->all_streams);
		state_builder_spoil(builder, 0, UINT64_MAX);
	}
	rules->begin_ns = properties->begin_ns;
	rules->end_ns = properties->end_ns;
	if (builder->has_begun && rules->end_ns < builder->line.now_ns)
		state_builder_spoil(builder, rules->end_ns, builder->line.now_ns);
	if (!rules->is_gpu && !rules->has_samples && properties->count[STORE_SAMPLES])
		state_builder_note_samples(builder);
	if (*until_ns > rules->end_ns)
		*until_ns = rules->end_ns;
	return *until_ns <= TIME_MAX;
}

/* Its records wait for a watermark that does not come. */
static void stop_waiting(struct store_state_builder *builder)
{
	if (builder->is_over || (state_builder_samples_waiting(builder) <= ROLLER_WAIT_MAX &&
					state_builder_spans_waiting(builder) <= ROLLER_WAIT_MAX))
		return;
	if (!builder->has_begun)
		store_all_streams_give_up(builder->all_streams);
	state_builder_spoil(builder, builder->line.now_ns, UINT64_MAX);
	state_builder_end(builder);
}

void store_state_builders_advance(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, uint64_t until_ns)
{
	struct state_builder_place *place = stream < builders->count ? &builders->places[stream] : NULL;
	struct store_state_builder *builder;

	if (!place || builders->failed)
		return;
	state_builder_retire(builders, place);
	builder = place->builder;
	if (!builder || builder->is_over)
		return;
	if (!rules_learn(builder, properties, &until_ns)) {
		builder->asked =
			state_builder_samples_waiting(builder) + state_builder_spans_waiting(builder);
		stop_waiting(builder);
		return;
	}
	if (!builder->has_begun) {
		builder->line.now_ns = builder->line.rules.begin_ns;
		builder->has_begun = true;
	}
	if (!state_builder_sweep(builder, until_ns)) {
		builders->failed = true;
		return;
	}
	builder->asked = state_builder_samples_waiting(builder) + state_builder_spans_waiting(builder);
	if (builder->united)
		store_device_busy_know(builder->united, builder->device_busy_queue, builder->line.now_ns,
			builder->line.now_ns == builder->line.rules.end_ns);
	if (builder->line.now_ns == builder->line.rules.end_ns) {
		state_builder_finish(builder);
		state_builder_end(builder);
	} else {
		stop_waiting(builder);
	}
}

void store_state_builders_unite(struct store_state_builders *builders, bool is_end)
{
	state_builder_count(builders);
	for (uint32_t i = 0; i < builders->devices.count && builders->is_thinned; i++)
		store_device_busy_spoil(builders->devices.devices[i], 0, UINT64_MAX);
	if (!builders->failed)
		store_devices_busy_merge(&builders->devices, is_end);
}
