/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder.c - decides which streams have a builder, how far each may sweep, and what goes into
 * a transaction. Some builders only feed the sums of all streams (all_streams.h), which readers do not need
 * while there are few streams: a small start of a run stays queued until there are more. Where more would
 * have to be queued, buckets are invalid, and readers sum the streams there.
 */
#include <stdlib.h>

#include "store/base/attribute.h"
#include "store/base/id_table.h"
#include "store/ingest/ingest.h"
#include "store/rollup/pending_rollups.h"
#include "store/states/state_rollup_builder_internal.h"

#define BASE_FIRST 10u /* 2^30 ns, where no period tells */
#define SWITCHES_NOT_SAID UINT64_MAX
#define BASE_RECORDS 4096u	     /* in a bucket, about */
#define DOZE_SAMPLES (1u << 15)	     /* of one stream that wait, while there are few */
#define WAIT_ALL (1u << 20)	     /* of all; then there are no sums of all streams */
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
	for (unsigned size = 0; builder->sizes && size <= STATE_BUILDER_TOP; size++)
		store_context_sums_fini(&builder->sizes[size].sums);
	free(builder->sizes);
	builder->sizes = NULL;
	store_bytes_fini(&builder->value);
	builder->is_over = true;
}

static void state_builder_free(struct store_state_builder *builder)
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

/* ---- builders that sleep ---- */

/* Nothing is known of its line that its place and its track's samples do not tell the next one. */
static bool is_simple(const struct store_state_builder *builder)
{
	for (uint32_t i = builder->spans.head; i < builder->spans.count; i++)
		if (builder->spans.list[i].op != STORE_OP_MONITORED)
			return false;
	return builder->line.rules.has_samples && !(builder->line.held & ~(1u << SPAN_KIND_MONITORED));
}

/* Skips a record for lack of a builder, and notes the end of the span. */
static void state_builder_pass_until(struct state_builder_place *place, uint64_t end_ns)
{
	place->is_passed = true;
	if (end_ns > place->passed_ns)
		place->passed_ns = end_ns;
}

/* The last `monitored` span is remembered. */
static void pass_monitored(struct state_builder_place *place, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns != place->monitored.begin_ns || end_ns != place->monitored.end_ns)
		state_builder_pass_until(place, end_ns);
}

static void pass_all(struct state_builder_place *place, const struct store_state_builder *builder)
{
	const struct span_stack *stack = &builder->line.stacks[SPAN_KIND_MONITORED];

	for (uint32_t i = builder->spans.head; i < builder->spans.count; i++)
		pass_monitored(place, builder->spans.list[i].begin_ns, builder->spans.list[i].end_ns);
	for (size_t i = 0; i < stack->count; i++)
		pass_monitored(place, stack->spans[i].begin_ns, stack->spans[i].end_ns);
	place->is_passed = true;
}

/* Frees the builder of a stream that only feeds the sums of all streams, when those are given up or paused.
 */
static void state_builder_retire(
	const struct store_state_builders *builders, struct state_builder_place *place)
{
	struct store_state_builder *builder = place->builder;

	if (!builder || !store_all_streams_is_idle(&builders->all_streams) || builder->sizes ||
		builder->is_over || !is_simple(builder))
		return;
	pass_all(place, builder);
	state_builder_free(builder);
	place->builder = NULL;
}

static void state_builder_pass(
	struct state_builder_place *place, enum store_track track, const struct store_record *record)
{
	state_builder_pass_until(place, track == STORE_SPANS ? record->end_ns : 0);
}

/* Counts the leading spans, all of one operation, that do not require a builder on a CPU stream. */
static size_t state_builder_pass_alike(
	struct state_builder_place *place, const struct store_record *records, size_t count)
{
	const enum span_kind kind = span_kind_of(records->what, false, true);
	size_t i = 0;

	if (kind != SPAN_KIND_COUNT && kind != SPAN_KIND_WORK)
		return 0;
	for (; i < count && records[i].what == records->what; i++)
		state_builder_pass(place, STORE_SPANS, &records[i]);
	return i;
}

/* Pauses the sums of all streams when one stream, or all, have queued too many samples. */
static void state_builder_doze(
	struct store_state_builders *builders, const struct store_state_builder *builder)
{
	if (builders->all_streams.is_few && !builder->sizes &&
		state_builder_samples_waiting(builder) > DOZE_SAMPLES)
		store_all_streams_sleep(&builders->all_streams);
}

/* Counts the builders being swept. */
static void state_builder_count(struct store_state_builders *builders)
{
	uint64_t waiting = 0;

	builders->live = 0;
	for (uint32_t i = 0; i < builders->count; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		builders->live += builder && !builder->is_over;
		waiting += builder && !builder->sizes ? state_builder_samples_waiting(builder) : 0;
	}
	if (waiting > WAIT_ALL && !store_all_streams_is_idle(&builders->all_streams))
		store_all_streams_give_up(&builders->all_streams);
}

void store_state_builders_wake(struct store_state_builders *builders)
{
	if (!store_all_streams_wake(&builders->all_streams))
		return;
	for (uint32_t i = 0; i < builders->count; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		if (builder && builder->has_begun)
			store_all_streams_spoil(
				&builders->all_streams, builder->line.rules.begin_ns, builder->line.now_ns);
	}
}

/* ---- records ---- */

static struct state_builder_place *place_of(struct store_state_builders *builders, uint32_t stream)
{
	while (builders->count <= stream)
		if (!store_id_table_add(&builders->places, &builders->count, &builders->capacity,
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
	while (base < STATE_BUILDER_TOP &&
		(uint64_t)1 << state_builder_shift(base + 1) <= period_ns * BASE_RECORDS)
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
		builder->busy = store_device_busy_join(
			&builders->devices, stream, properties, &builder->device_busy_queue);
		if (!builder->busy) {
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

/* False: no memory. */
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

/* Streams of PC samples and of gauges have no states. The sums of all streams count the former, so there are
 * none.
 */
static bool has_no_time(struct store_state_builders *builders, const struct store_stream *properties)
{
	if (properties->kind == STORE_STREAM_PC)
		store_all_streams_give_up(&builders->all_streams);
	return properties->kind == STORE_STREAM_PC || properties->kind == STORE_STREAM_GAUGES;
}

void store_state_builders_append(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts)
{
	struct state_builder_place *place;

	if (builders->failed || track == STORE_VALUES || has_no_time(builders, properties))
		return;
	place = place_of(builders, stream);
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
	struct state_builder_place *place =
		builders->failed || has_no_time(builders, properties) ? NULL : place_of(builders, stream);
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
	if (builder->is_over || (state_builder_samples_waiting(builder) <= STATE_BUILDER_WAIT_MAX &&
					state_builder_spans_waiting(builder) <= STATE_BUILDER_WAIT_MAX))
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
	if (builder->busy)
		store_device_busy_know(builder->busy, builder->device_busy_queue, builder->line.now_ns,
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

/* ---- names ---- */

static struct store_hash path_of(const void *own, uint32_t context)
{
	const struct store_contexts *contexts = own;

	return context < contexts->count ? contexts->nodes[context].hash : (struct store_hash){0};
}

static struct store_slice operation_of(const void *own, uint32_t op)
{
	return store_texts_at(((const struct store_contexts *)own)->texts, op - STORE_OP_TEXT);
}

void store_state_builders_tell_names(
	struct store_state_builders *builders, const struct store_contexts *contexts)
{
	builders->names = (struct tie_names){path_of, operation_of, contexts};
}

/* ---- the sums of all streams ---- */

/* Does the sums of all streams know all of the stream's life? What it does not know is spoiled. */
static void account(struct store_all_streams *all_streams, const struct state_builder_place *place,
	const struct store_stream *properties, struct store_all_streams_head *head)
{
	const struct store_state_builder *builder = place ? place->builder : NULL;
	bool has_life = properties->end_ns > properties->begin_ns, has_records = false;

	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		has_records |= properties->count[track] > 0;
	if (!has_life && !has_records)
		return;
	head->begin_ns = properties->begin_ns < head->begin_ns ? properties->begin_ns : head->begin_ns;
	head->end_ns = properties->end_ns > head->end_ns ? properties->end_ns : head->end_ns;
	if (!has_life || properties->end_ns > TIME_MAX ||
		(!builder && has_records && !(place && place->is_passed))) {
		store_all_streams_give_up(all_streams);
	} else if (!builder && has_records) {
		store_all_streams_spoil(all_streams, properties->begin_ns, properties->end_ns);
	} else if (!builder) {
		store_all_streams_add(all_streams, &(struct state_piece){.begin_ns = properties->begin_ns,
							   .end_ns = properties->end_ns,
							   .state = EXTENT_UNMONITORED});
	} else if (!builder->has_begun || builder->line.rules.begin_ns != properties->begin_ns ||
		   builder->line.rules.end_ns != properties->end_ns ||
		   (!builder->line.rules.is_gpu &&
			   builder->line.rules.has_samples != (properties->count[STORE_SAMPLES] > 0))) {
		store_all_streams_give_up(all_streams);
	} else if (builder->line.now_ns < builder->line.rules.end_ns) {
		store_all_streams_spoil(all_streams, builder->line.now_ns, builder->line.rules.end_ns);
	}
}

void store_state_builders_put_all_streams(
	struct store_state_builders *builders, const struct store_stream *streams, uint32_t count)
{
	struct store_all_streams_head *head = &builders->head;

	if (head->streams) /* accounted for already: the commit is tried again */
		return;
	*head = (struct store_all_streams_head){.begin_ns = UINT64_MAX};
	for (uint32_t i = 0; i < count; i++)
		head->streams += streams[i].kind != STORE_STREAM_GAUGES;
	for (uint32_t i = 0; i < count && !builders->all_streams.is_bad; i++)
		if (streams[i].kind != STORE_STREAM_GAUGES)
			account(&builders->all_streams, i < builders->count ? &builders->places[i] : NULL,
				&streams[i], head);
	count = head->streams;
	if (builders->failed || builders->thinned_ns || head->begin_ns > head->end_ns ||
		(count && head->end_ns - head->begin_ns > UINT64_MAX / count)) /* sums are 64 bits wide */
		store_all_streams_give_up(&builders->all_streams);
}

/* ---- into a transaction ---- */

static int delete_roll(MDB_txn *txn, MDB_dbi rolls, const struct store_key_rollup *key)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes};
	int rc;

	store_key_rollup_put(bytes, key);
	rc = mdb_del(txn, rolls, &mdb_key, NULL);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Those that hold the time, of each size, and all that begin behind it. */
static int delete_torn(MDB_txn *txn, MDB_dbi rolls, uint32_t stream, uint8_t kind, uint64_t torn_ns)
{
	struct store_key_rollup key = {.stream = stream, .kind = kind};
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	int rc = 0;

	if (torn_ns == UINT64_MAX)
		return 0;
	for (unsigned size = 1; size <= STATE_BUILDER_TOP && !rc; size++) {
		key.shift = (uint8_t)state_builder_shift(size);
		key.begin_ns = store_bucket_of(torn_ns, key.shift);
		rc = delete_roll(txn, rolls, &key);
	}
	while (!rc) {
		MDB_cursor *cursor;
		MDB_val found = {sizeof bytes, bytes}, value;

		store_key_rollup_put(bytes, &(struct store_key_rollup){.stream = stream,
						    .kind = kind,
						    .begin_ns = torn_ns,
						    .shift = STORE_SHIFT_MAX});
		rc = mdb_cursor_open(txn, rolls, &cursor);
		if (rc)
			return rc;
		rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
		if (!rc && (!store_key_rollup_get(&key, found.mv_data, found.mv_size) ||
				   key.stream != stream || key.kind != kind))
			rc = MDB_NOTFOUND;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
		mdb_cursor_close(cursor);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Dropped records cannot be rolled up again. */
static int put_lines(const struct store_state_builders *builders, const struct store_state_builder *builder,
	MDB_txn *txn, MDB_dbi rolls)
{
	uint64_t torn_ns = builder->torn_ns > builders->thinned_ns ? builder->torn_ns : builders->thinned_ns;
	int rc = 0;

	if (builder->torn_ns != UINT64_MAX)
		rc = delete_torn(txn, rolls, builder->stream, STORE_ROLLUP_STATES, torn_ns);
	return rc ? rc : store_pending_rollups_put(&builder->made, txn, rolls);
}

static int put_united(const struct store_device_busy *busy, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = delete_torn(txn, rolls, busy->stream, STORE_ROLLUP_DEVICE_BUSY, busy->torn_ns);

	return rc ? rc : store_pending_rollups_put(&busy->made, txn, rolls);
}

int store_state_builders_put(struct store_state_builders *builders, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = 0;

	for (uint32_t i = 0; i < builders->count && !rc; i++) {
		const struct store_state_builder *builder = builders->places[i].builder;

		rc = builder ? put_lines(builders, builder, txn, rolls) : 0;
	}
	for (uint32_t i = 0; i < builders->devices.count && !rc; i++)
		rc = put_united(builders->devices.devices[i], txn, rolls);
	if (!rc && builders->head.streams)
		rc = store_all_streams_put(&builders->all_streams, &builders->head, txn, rolls);
	return rc;
}

void store_state_builders_committed(struct store_state_builders *builders)
{
	for (uint32_t i = 0; i < builders->count; i++) {
		struct store_state_builder *builder = builders->places[i].builder;

		if (!builder)
			continue;
		builder->made.size = 0;
		builder->torn_ns = UINT64_MAX;
	}
	for (uint32_t i = 0; i < builders->devices.count; i++) {
		builders->devices.devices[i]->made.size = 0;
		builders->devices.devices[i]->torn_ns = UINT64_MAX;
	}
}
