/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder.c - which streams have a roller, and how far each may sweep.
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
static void roller_end(struct store_roller *roller)
{
	line_fini(&roller->line);
	free(roller->samples.list);
	roller->samples = (struct roller_samples){0};
	free(roller->spans.list);
	roller->spans = (struct roller_spans){0};
	for (unsigned size = 0; roller->sizes && size <= ROLLER_TOP; size++)
		store_sums_fini(&roller->sizes[size].sums);
	free(roller->sizes);
	roller->sizes = NULL;
	store_bytes_fini(&roller->value);
	roller->is_over = true;
}

void roller_free(struct store_roller *roller)
{
	if (!roller)
		return;
	roller_end(roller);
	store_bytes_fini(&roller->made);
	free(roller);
}

void store_rollers_fini(struct store_rollers *rollers)
{
	for (uint32_t i = 0; i < rollers->count; i++)
		roller_free(rollers->places[i].roller);
	free(rollers->places);
	free(rollers->tally);
	store_crowd_fini(&rollers->crowd);
	store_uniteds_fini(&rollers->uniteds);
	*rollers = (struct store_rollers){0};
}

static struct roller_place *place_of(struct store_rollers *rollers, uint32_t stream)
{
	while (rollers->count <= stream)
		if (!store_table_add((void **)&rollers->places, &rollers->count, &rollers->capacity,
			    sizeof *rollers->places)) {
			rollers->failed = true;
			return NULL;
		}
	return &rollers->places[stream];
}

static void monitored_note(
	struct store_roller *roller, const struct store_record *span, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, span->attributes);
	struct line_rules *rules = &roller->line.rules;
	uint64_t switches;

	rules->has_monitored = true;
	if (!rules->period_ns)
		rules->period_ns = attribute_number((const char *)text.bytes, text.size, "period_ns", 0);
	switches = attribute_number((const char *)text.bytes, text.size, "switches", SWITCHES_NOT_SAID);
	roller->is_switches_said |= switches != SWITCHES_NOT_SAID;
	if (switches && switches != SWITCHES_NOT_SAID)
		roller_note_switches(roller);
}

/* The base that holds about BASE_RECORDS of them. */
static unsigned base_of(uint64_t period_ns)
{
	unsigned base = 1;

	if (!period_ns)
		return BASE_FIRST;
	while (base < ROLLER_TOP && (uint64_t)1 << roller_shift(base + 1) <= period_ns * BASE_RECORDS)
		base++;
	return base;
}

static struct store_roller *roller_new(struct store_rollers *rollers, struct roller_place *place,
	uint32_t stream, const struct store_stream *properties, const struct store_texts *texts)
{
	struct store_roller *roller;

	if (!rollers->tally)
		rollers->tally = roller_tally_new();
	roller = rollers->tally ? calloc(1, sizeof *roller) : NULL;
	if (!roller)
		return NULL;
	roller->tally = rollers->tally;
	roller->crowd = &rollers->crowd;
	roller->line.names = rollers->names;
	roller->stream = stream;
	roller->torn_ns = UINT64_MAX;
	roller->monitored_ns = UINT64_MAX;
	roller->line.rules.is_gpu = properties->kind == STORE_STREAM_GPU;
	roller->line.rules.has_samples = !roller->line.rules.is_gpu && properties->count[STORE_SAMPLES];
	if (place->has_monitored) {
		struct store_record span = place->monitored;

		monitored_note(roller, &span, texts);
		if (span.end_ns == STORE_OPEN_NS)
			roller->monitored_ns = span.begin_ns;
		if (!roller_wait_span(roller, &span, texts)) {
			roller_free(roller);
			return NULL;
		}
	}
	if (roller->line.rules.is_gpu && !rollers->is_thinned) {
		roller->united =
			store_united_join(&rollers->uniteds, stream, properties, &roller->united_queue);
		if (!roller->united) {
			roller_free(roller);
			return NULL;
		}
	}
	place->roller = roller;
	rollers->live++;
	return roller;
}

/* The stream is to have rollups of its own, from here on. */
static bool rolls_begin(struct store_roller *roller)
{
	roller->sizes = calloc(STORE_LINE_ROLL_SIZES, sizeof *roller->sizes);
	roller->base = base_of(roller->line.rules.period_ns);
	return roller->sizes != NULL;
}

static bool announces_switches(const struct store_record *monitored, const struct store_texts *texts)
{
	struct store_slice text = store_texts_at(texts, monitored->attributes);

	return attribute_number((const char *)text.bytes, text.size, "switches", 0) != 0;
}

static bool needs_roller(const struct store_stream *properties, enum store_track track,
	const struct store_record *record, const struct store_texts *texts)
{
	enum line_kind kind;

	if (properties->kind == STORE_STREAM_GPU)
		return true;
	if (track != STORE_SPANS)
		return false;
	kind = line_kind_of(record->what, false, true);
	return kind == LINE_KIND_SYNC || kind == LINE_KIND_BLOCKED || kind == LINE_KIND_RUNNABLE ||
	       (kind == LINE_KIND_MONITORED && announces_switches(record, texts));
}

static void monitored_set(
	struct store_rollers *rollers, struct roller_place *place, const struct store_record *span)
{
	const struct store_record *last = &place->monitored;
	bool is_its_end = last->end_ns == STORE_OPEN_NS && last->begin_ns == span->begin_ns;

	if (place->has_monitored && !place->roller && !is_its_end)
		roller_pass_until(place, last->end_ns);
	/* Which of them readers go by depends on where they meet them. */
	if (place->has_monitored && place->monitored.attributes != span->attributes)
		store_crowd_give_up(&rollers->crowd);
	place->monitored = *span;
	place->has_monitored = true;
}

/* The roller may come into being in the middle of the stream: what was before is not known. */
static bool roller_begin(struct store_rollers *rollers, struct roller_place *place, uint32_t stream,
	const struct store_stream *properties, uint64_t now_ns, const struct store_texts *texts)
{
	struct store_roller *roller = roller_new(rollers, place, stream, properties, texts);

	if (!roller)
		return false;
	roller->valid_ns = place->passed_ns;
	if (properties->kind == STORE_STREAM_CPU && properties->count[STORE_SAMPLES]) {
		uint64_t latest_ns = rollers->ingest ? store_ingest_latest(rollers->ingest, stream) : 0;

		now_ns = latest_ns < now_ns ? now_ns : latest_ns + 1;
		roller->valid_ns = now_ns > place->passed_ns ? now_ns : place->passed_ns;
		roller->awaits_sample = true;
	}
	return true;
}

/* False: memory is out. */
static bool monitored_take(struct store_rollers *rollers, struct roller_place *place,
	const struct store_record *span, const struct store_texts *texts)
{
	struct store_roller *roller = place->roller;

	monitored_set(rollers, place, span);
	if (!roller)
		return true;
	monitored_note(roller, span, texts);
	if (roller->monitored_ns == span->begin_ns && span->end_ns != STORE_OPEN_NS) {
		roller_monitored_end(roller, span);
		return true;
	}
	if (span->end_ns == STORE_OPEN_NS) {
		if (roller->monitored_ns != UINT64_MAX)
			return true;
		roller->monitored_ns = span->begin_ns;
	}
	return roller_wait_span(roller, span, texts);
}

/* After the last rollup was made: what comes behind the sweep, still comes behind the sweep. */
static void late_only(struct store_roller *roller, const struct store_record *records, size_t count)
{
	for (size_t i = 0; i < count && roller->has_begun; i++)
		if (roller_is_late(roller, &records[i]))
			roller_tear(roller, records[i].begin_ns, 0);
}

static bool record_take(struct store_rollers *rollers, struct roller_place *place, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *record,
	const struct store_texts *texts)
{
	bool is_monitored = track == STORE_SPANS && record->what == STORE_OP_MONITORED;
	bool needs_rolls = needs_roller(properties, track, record, texts);

	if (is_monitored && !monitored_take(rollers, place, record, texts))
		return false;
	if (!place->roller && (needs_rolls || !store_crowd_is_idle(&rollers->crowd)) &&
		!roller_begin(rollers, place, stream, properties, record->begin_ns, texts))
		return false;
	if (place->roller && needs_rolls && !place->roller->sizes && !rolls_begin(place->roller))
		return false;
	if (is_monitored)
		return true;
	if (!place->roller) {
		roller_pass(place, track, record);
		return true;
	}
	return track == STORE_SAMPLES ? roller_wait_sample(place->roller, record)
				      : roller_wait_span(place->roller, record, texts);
}

void store_rollers_append(struct store_rollers *rollers, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts)
{
	struct roller_place *place =
		rollers->failed || track == STORE_VALUES ? NULL : place_of(rollers, stream);

	if (!place)
		return;
	roller_retire(rollers, place);
	if (!place->roller && track == STORE_SAMPLES && properties->kind == STORE_STREAM_CPU &&
		store_crowd_is_idle(&rollers->crowd)) {
		place->is_passed = true;
		return;
	}
	if (place->roller && place->roller->is_over) {
		late_only(place->roller, records, count);
		return;
	}
	if (place->roller && track == STORE_SAMPLES && properties->kind == STORE_STREAM_CPU) {
		rollers->failed = !roller_wait_samples(place->roller, records, count);
		roller_doze(rollers, place->roller);
		return;
	}
	for (size_t i = 0; i < count && !rollers->failed; i++) {
		size_t taken = 0;

		if (track == STORE_SPANS && place->roller)
			taken = roller_wait_spans(place->roller, records + i, count - i, texts, false);
		else if (track == STORE_SPANS && properties->kind == STORE_STREAM_CPU &&
			 store_crowd_is_idle(&rollers->crowd))
			taken = roller_pass_alike(place, records + i, count - i);
		if (taken == count - i)
			return;
		rollers->failed = taken == SIZE_MAX || !record_take(rollers, place, stream, properties, track,
							       &records[i += taken], texts);
	}
}

void store_rollers_open(struct store_rollers *rollers, uint32_t stream, const struct store_stream *properties,
	const struct store_record *record, const struct store_texts *texts)
{
	struct roller_place *place = rollers->failed ? NULL : place_of(rollers, stream);
	struct store_record open = *record;

	open.end_ns = STORE_OPEN_NS;
	if (place && open.what == STORE_OP_MONITORED && !(place->roller && place->roller->is_over))
		rollers->failed = !record_take(rollers, place, stream, properties, STORE_SPANS, &open, texts);
}

/* ---- commits ---- */

/* Life and edges, as far as they are known. False: the line cannot be swept yet. */
static bool rules_learn(
	struct store_roller *roller, const struct store_stream *properties, uint64_t *until_ns)
{
	struct line_rules *rules = &roller->line.rules;
	bool has_life = properties->end_ns > properties->begin_ns;

	/* Without a life or a `monitored` span these are the first and the last record: readers sweep. */
	if (!has_life || !rules->has_monitored)
		return false;
	if (roller->has_begun && rules->begin_ns != properties->begin_ns) {
		store_crowd_give_up(roller->crowd);
		roller_spoil(roller, 0, UINT64_MAX);
	}
	rules->begin_ns = properties->begin_ns;
	rules->end_ns = properties->end_ns;
	if (roller->has_begun && rules->end_ns < roller->line.now_ns)
		roller_spoil(roller, rules->end_ns, roller->line.now_ns);
	if (!rules->is_gpu && !rules->has_samples && properties->count[STORE_SAMPLES])
		roller_note_samples(roller);
	if (*until_ns > rules->end_ns)
		*until_ns = rules->end_ns;
	return *until_ns <= TIME_MAX;
}

/* Its records wait for a watermark that does not come. */
static void stop_waiting(struct store_roller *roller)
{
	if (roller->is_over || (roller_samples_waiting(roller) <= ROLLER_WAIT_MAX &&
				       roller_spans_waiting(roller) <= ROLLER_WAIT_MAX))
		return;
	if (!roller->has_begun)
		store_crowd_give_up(roller->crowd);
	roller_spoil(roller, roller->line.now_ns, UINT64_MAX);
	roller_end(roller);
}

void store_rollers_advance(struct store_rollers *rollers, uint32_t stream,
	const struct store_stream *properties, uint64_t until_ns)
{
	struct roller_place *place = stream < rollers->count ? &rollers->places[stream] : NULL;
	struct store_roller *roller;

	if (!place || rollers->failed)
		return;
	roller_retire(rollers, place);
	roller = place->roller;
	if (!roller || roller->is_over)
		return;
	if (!rules_learn(roller, properties, &until_ns)) {
		roller->asked = roller_samples_waiting(roller) + roller_spans_waiting(roller);
		stop_waiting(roller);
		return;
	}
	if (!roller->has_begun) {
		roller->line.now_ns = roller->line.rules.begin_ns;
		roller->has_begun = true;
	}
	if (!roller_sweep(roller, until_ns)) {
		rollers->failed = true;
		return;
	}
	roller->asked = roller_samples_waiting(roller) + roller_spans_waiting(roller);
	if (roller->united)
		store_united_know(roller->united, roller->united_queue, roller->line.now_ns,
			roller->line.now_ns == roller->line.rules.end_ns);
	if (roller->line.now_ns == roller->line.rules.end_ns) {
		roller_finish(roller);
		roller_end(roller);
	} else {
		stop_waiting(roller);
	}
}

void store_rollers_unite(struct store_rollers *rollers, bool is_end)
{
	roller_count(rollers);
	for (uint32_t i = 0; i < rollers->uniteds.count && rollers->is_thinned; i++)
		store_united_spoil(rollers->uniteds.devices[i], 0, UINT64_MAX);
	if (!rollers->failed)
		store_uniteds_merge(&rollers->uniteds, is_end);
}
