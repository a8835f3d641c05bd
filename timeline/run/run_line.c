/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_line.c - facts about a whole stream that its timeline depends on: its life, whether records tell when
 * it was monitored and switched out, and until when it is complete. Computed once; reads only the operations
 * of chunks.
 */
#include <string.h>

#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "timeline/run/run_internal.h"

#define SWITCHES_NOT_SAID UINT64_MAX
#define FEW 256u /* so few spans are read completely at once */

/* ---- which operations the spans track holds ---- */

/* Does this `monitored` span begin before the one that counts, or end before, or else has the lesser hash? */
static bool is_before(const struct run_monitored *a, const struct run_monitored *b)
{
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns;
	return store_hash_compare(a->attributes, b->attributes) < 0;
}

/* Of several that contradict each other the first one counts, whatever their order in the store. */
static void note_monitored(struct run *run, struct run_line_state *stream, uint64_t begin_ns, uint64_t end_ns,
	uint32_t attributes)
{
	struct run_line *line = stream->line;
	size_t size = 0;
	const char *text = store_reader_text(run->parts[stream->r.store].reader, attributes, &size);
	const struct run_monitored monitored = {begin_ns, end_ns, store_hash128(text, size)};
	char metric[256], uuid[128];
	uint64_t switches;

	if (line->has_monitored && !is_before(&monitored, &stream->monitored))
		return;
	stream->monitored = monitored;
	line->has_monitored = true;
	line->period_ns = attribute_number(text, size, "period_ns", 0);
	line->metric = attribute_get(text, size, "metric", metric, sizeof metric)
			       ? run_intern(run, metric, strlen(metric))
			       : "";
	line->uuid = attribute_get(text, size, "uuid", uuid, sizeof uuid)
			     ? run_intern(run, uuid, strlen(uuid))
			     : "";
	switches = attribute_number(text, size, "switches", SWITCHES_NOT_SAID);
	stream->is_switches_said = switches != SWITCHES_NOT_SAID;
	line->has_switches = stream->is_switches_said ? switches != 0 : stream->has_switch_spans;
}

static void note(struct run *run, struct run_line_state *stream, const struct store_record *record)
{
	if (record->what == STORE_OP_MONITORED)
		note_monitored(run, stream, record->begin_ns, record->end_ns, record->attributes);
	if (record->what != STORE_OP_BLOCKED && record->what != STORE_OP_RUNNABLE)
		return;
	stream->has_switch_spans = true;
	if (!stream->is_switches_said)
		stream->line->has_switches = true;
}

/* From this chunk on, buckets that begin no earlier follow. */
static bool knows_enough(const struct run_line_state *stream, const struct store_chunk *chunk)
{
	/* Nothing switches a queue out. */
	return stream->line->has_monitored && chunk->bucket_ns > stream->monitored.begin_ns &&
	       (stream->line->has_switches || stream->is_switches_said ||
		       stream->r.s.kind == STORE_STREAM_GPU);
}

static bool holds_monitored(const struct store_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->what[i] == STORE_OP_MONITORED)
			return true;
	return false;
}

static int look_into(struct run *run, struct run_line_state *stream, const struct store_chunk *chunk,
	struct store_batch *batch, struct error *error)
{
	const unsigned columns = STORE_BEGIN | STORE_END | STORE_WHAT | STORE_ATTRIBUTES;
	const bool is_small = chunk->count <= FEW;
	int code = store_chunk_decode(chunk, is_small ? columns : STORE_WHAT, batch, error);
	bool has_monitored = !code && holds_monitored(batch);

	if (has_monitored && !is_small)
		code = store_chunk_decode(chunk, columns, batch, error);
	for (size_t i = 0; !code && i < batch->count; i++)
		note(run, stream,
			&(struct store_record){.begin_ns = has_monitored ? batch->begin_ns[i] : 0,
				.end_ns = has_monitored ? batch->end_ns[i] : 0,
				.what = batch->what[i],
				.attributes = has_monitored ? batch->attributes[i] : 0});
	return code;
}

/* What has been read. */
struct look {
	uint64_t spans, begin_ns, end_ns; /* how many; of the last chunk */
};

static int look_at_chunks(
	struct run *run, struct run_line_state *stream, struct look *seen, struct error *error)
{
	struct store_reader *reader = run->parts[stream->r.store].reader;
	struct store_cursor *cursor;
	struct store_chunk chunk;
	struct store_batch batch;
	int code = store_cursor_open(
		&cursor, reader, stream->r.id_in_store, STORE_SPANS, 0, STORE_OPEN_NS, error);

	if (code)
		return code;
	store_batch_init(&batch);
	while ((code = store_cursor_next(cursor, &chunk, error)) > 0 && !knows_enough(stream, &chunk)) {
		code = look_into(run, stream, &chunk, &batch, error);
		if (code)
			break;
		*seen = (struct look){seen->spans + chunk.count, chunk.first_ns, chunk.end_ns};
	}
	store_batch_fini(&batch);
	store_cursor_close(cursor);
	return code < 0 ? code : 0;
}

/* If `monitored` is the only span, later calls need not search spans again. */
static void note_only(
	const struct run_part *part, struct run_line *line, const struct look *seen, uint64_t spans)
{
	bool is_only = spans == 1 && seen->spans == 1 && line->has_monitored && seen->end_ns != STORE_OPEN_NS;

	line->only_begin_ns = is_only ? run_part_time(part, seen->begin_ns) : 0;
	line->only_end_ns = is_only ? run_part_time(part, seen->end_ns) : 0;
}

static int look(struct run *run, struct run_line_state *stream, struct error *error)
{
	const struct run_part *part = &run->parts[stream->r.store];
	const struct store_record *records;
	uint64_t spans = stream->r.s.count[STORE_SPANS];
	struct look seen = {0};
	size_t count;
	int code = store_reader_open_spans(part->reader, stream->r.id_in_store, &records, &count, error);

	for (size_t i = 0; !code && i < count; i++)
		note(run, stream, &records[i]);
	if (count)
		stream->line->only_begin_ns = stream->line->only_end_ns = 0;
	if (code || spans == stream->spans_seen)
		return code;
	code = look_at_chunks(run, stream, &seen, error);
	if (code)
		return code;
	stream->spans_seen = spans;
	note_only(part, stream->line, &seen, spans + count);
	return 0;
}

/* ---- from the first to the last record ---- */

static int track_reach(struct run *run, const struct run_stream *r, enum store_track track,
	uint64_t *first_ns, uint64_t *last_ns, struct error *error)
{
	struct store_cursor *cursor;
	struct store_chunk chunk;
	int code = store_cursor_open(
		&cursor, run->parts[r->store].reader, r->id_in_store, track, 0, STORE_OPEN_NS, error);

	if (code)
		return code;
	while ((code = store_cursor_next(cursor, &chunk, error)) > 0) {
		if (chunk.first_ns < *first_ns)
			*first_ns = chunk.first_ns;
		if (chunk.last_ns > *last_ns)
			*last_ns = chunk.last_ns;
		if (chunk.end_ns > *last_ns && chunk.end_ns != STORE_OPEN_NS)
			*last_ns = chunk.end_ns;
	}
	store_cursor_close(cursor);
	return code;
}

static int reach(struct run *run, struct run_line_state *stream, struct error *error)
{
	const struct run_part *part = &run->parts[stream->r.store];
	uint64_t first = UINT64_MAX, last = 0;
	const struct store_record *records;
	size_t count;
	int code = store_reader_open_spans(part->reader, stream->r.id_in_store, &records, &count, error);

	for (size_t i = 0; !code && i < count; i++) {
		first = records[i].begin_ns < first ? records[i].begin_ns : first;
		last = records[i].begin_ns > last ? records[i].begin_ns : last;
	}
	for (int track = 0; track < STORE_TRACK_COUNT && !code; track++)
		code = track_reach(run, &stream->r, (enum store_track)track, &first, &last, error);
	stream->line->first_ns = first < last ? run_part_time(part, first) : 0;
	stream->line->last_ns = first < last ? run_part_time(part, last) : 0;
	return code;
}

/* ---- all of it ---- */

/* Time up to which the tracks' watermarks make the timeline final. */
static uint64_t complete_until(const struct store_stream *s)
{
	uint64_t least = UINT64_MAX;

	for (int track = 0; track <= STORE_SPANS; track++) {
		uint64_t complete = s->complete_ns[track];

		if (track == STORE_SAMPLES && s->kind == STORE_STREAM_GPU)
			continue;
		if (complete && complete < least)
			least = complete;
	}
	return least == STORE_OPEN_NS ? 0 : least;
}

static int learn(struct run *run, struct run_line_state *stream, struct error *error)
{
	const struct store_stream *s = &stream->r.s;
	struct run_line *line = stream->line;
	bool has_life = s->end_ns > s->begin_ns, is_told;
	int code;

	if (!line->metric)
		line->metric = line->uuid = "";
	code = look(run, stream, error);
	line->complete_ns = complete_until(s);
	if (!code && (!line->has_monitored || !has_life || !line->complete_ns))
		code = reach(run, stream, error);
	if (code)
		return code;
	/* Without records (in a slice, or outside the window) the stream's own times count. */
	is_told = has_life || !line->last_ns;
	line->begin_ns = is_told ? s->begin_ns : line->first_ns;
	line->end_ns = is_told ? s->end_ns : line->last_ns;
	if (line->end_ns != STORE_OPEN_NS)
		line->complete_ns = line->end_ns;
	else if (!line->complete_ns)
		line->complete_ns = line->last_ns;
	stream->is_line_known = true;
	return 0;
}

int run_line(struct run *run, uint32_t stream, const struct run_line **line, struct error *error)
{
	struct run_line_state *state = run_line_state(run, stream);
	int code = state->is_line_known ? 0 : learn(run, state, error);

	*line = state->line;
	return code;
}
