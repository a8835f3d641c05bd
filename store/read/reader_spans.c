/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_spans.c - a stream's spans that were open at the last commit: read and checked on first use, kept
 * until the reader is renewed.
 */
#include <stdlib.h>

#include "store/read/reader_internal.h"

static bool span_is_sound(const struct store_reader *reader, const struct store_record *record)
{
	return record->context < reader->contexts.count && record->attributes < reader->texts.count &&
	       (record->what < STORE_OP_TEXT || record->what - STORE_OP_TEXT < reader->texts.count);
}

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

static struct store_record thinned_span(const struct store_stream *stream)
{
	struct store_record span = {
		.begin_ns = stream->begin_ns, .end_ns = stream->thinned_ns, .what = STORE_OP_THINNED};

	if (stream->end_ns > stream->begin_ns && stream->end_ns < span.end_ns)
		span.end_ns = stream->end_ns;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		span.amount += stream->dropped[track];
	return span;
}

/* At least nine bytes make a span, so the value's size bounds their number. */
static int load_spans(struct store_reader *reader, const struct store_stream *stream,
	struct store_spans *spans, struct store_input input, struct error *error)
{
	struct store_record *records =
		arena_calloc(&reader->arena, (size_t)(input.end - input.at) / 9 + 2, sizeof *records);
	struct store_open_span span;

	if (!records)
		return error_memory(error);
	spans->count = 0;
	while (input.at < input.end && !input.bad) {
		store_open_span_get(&span, &input);
		if (!input.bad && span_is_sound(reader, &span.record))
			records[spans->count++] = span.record;
		else
			input.bad = true;
	}
	if (input.bad)
		return store_reader_damaged(reader, "open spans", error);
	if (stream->thinned_ns > stream->begin_ns)
		records[spans->count++] = thinned_span(stream);
	qsort(records, spans->count, sizeof *records, compare_records);
	spans->records = records;
	spans->is_loaded = true;
	return 0;
}

static int find_spans(
	struct store_reader *reader, uint32_t stream, struct store_spans *spans, struct error *error)
{
	uint8_t key[STORE_KEY_ID_BYTES];
	struct store_slice value;
	int rc;

	store_key_id_put(key, stream);
	rc = store_tree_get_sealed(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_OPEN], key,
		sizeof key, &value, error);
	if (rc < 0)
		return rc;
	return load_spans(reader, store_reader_at(reader, stream), spans,
		rc ? store_input_sealed(value, key, sizeof key) : (struct store_input){0}, error);
}

int store_reader_open_spans(struct store_reader *reader, uint32_t stream, const struct store_record **records,
	size_t *count, struct error *error)
{
	int rc = 0;

	*records = NULL;
	*count = 0;
	if (stream >= reader->stream_count)
		return 0;
	if (!reader->spans)
		reader->spans = calloc(reader->stream_count, sizeof *reader->spans);
	if (!reader->spans)
		return error_memory(error);
	if (!reader->spans[stream].is_loaded)
		rc = find_spans(reader, stream, &reader->spans[stream], error);
	if (rc)
		return rc;
	*records = reader->spans[stream].records;
	*count = reader->spans[stream].count;
	return 0;
}
