/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_row.c - converts one line of TSV to a record: checks every field, and reports errors with line and
 * column.
 */
#include "formats/tsv/tsv_row.h"

#include <stdlib.h>

#include "formats/base/path_text.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/slice/slice.h"

/* ---- fields ---- */

int tsv_row_text(struct import *import, enum tsv_column column, struct error *error)
{
	const struct tsv_field *field = &import->reader.fields[column];

	import->text.size = 0;
	if (!escape_undo(&import->text, field->text, field->size))
		return tsv_reader_bad(&import->reader, column,
			"has a wrong escape; \\\\ \\t \\n \\r \\; \\, \\= and \\xHH are those there are",
			error);
	return import->text.failed ? error_memory(error) : 0;
}

bool tsv_row_is(const struct import *import, enum tsv_column column, const char *text)
{
	const struct tsv_field *field = &import->reader.fields[column];

	return field->size == strlen(text) && memcmp(field->text, text, field->size) == 0;
}

bool tsv_row_is_empty(const struct import *import, enum tsv_column column)
{
	return import->reader.fields[column].size == 0;
}

int tsv_row_track(const struct import *import, enum store_track *track, struct error *error)
{
	for (*track = 0; *track < STORE_TRACK_COUNT; (*track)++)
		if (tsv_row_is(import, TSV_TRACK, store_track_name(*track)))
			return 0;
	if (!tsv_row_is_empty(import, TSV_TRACK))
		return tsv_reader_bad(
			&import->reader, TSV_TRACK, "is no track: samples, spans or values", error);
	*track = !tsv_row_is_empty(import, TSV_VALUE)					   ? STORE_VALUES
		 : !tsv_row_is_empty(import, TSV_END) || !tsv_row_is_empty(import, TSV_OP) ? STORE_SPANS
											   : STORE_SAMPLES;
	return 0;
}

bool tsv_row_reserve(void *array, uint32_t number, size_t size)
{
	return (number & (number - 1)) != 0 ||
	       array_resize(array, number == 0 ? 1 : (size_t)number * 2, size);
}

/* ---- paths ---- */

static int add_path(struct import *import, struct import_path *path, struct error *error)
{
	const struct tsv_field *field = &import->reader.fields[TSV_PATH];
	struct path_text to = {import->writer, import->text_module, import->text};
	int rc = path_text_context(&to, field->text, field->size, &path->context, &path->is_partial);

	import->text = to.name;
	if (rc == ERROR_USAGE)
		return tsv_reader_bad(&import->reader, TSV_PATH,
			"has a wrong escape; \\\\ \\t \\n \\r \\; and \\xHH are those there are", error);
	return rc < 0 ? error_memory(error) : 0;
}

int tsv_row_path(struct import *import, struct import_path *path, struct error *error)
{
	const struct tsv_field *field = &import->reader.fields[TSV_PATH];
	struct store_hash hash = store_hash128(field->text, field->size);
	uint32_t number;
	bool is_new;
	int rc = 0;

	*path = (struct import_path){.context = STORE_CONTEXT_NONE};
	if (field->size == 0)
		return 0;
	number = key_ids_put(&import->paths, &hash, &is_new);
	if (number == KEY_IDS_NONE ||
		(is_new && !tsv_row_reserve(&import->contexts, number, sizeof *import->contexts)))
		return error_memory(error);
	if (is_new) {
		import->contexts[number] = (struct import_path){0};
		rc = add_path(import, &import->contexts[number], error);
	}
	*path = import->contexts[number];
	return rc;
}

/* ---- records ---- */

/* Of a value: its attributes say what it is of (timeline/slice/slice_row.c). */
static enum store_metric_kind kind_of(const struct import *import, char *unit, size_t room)
{
	const struct tsv_field *field = &import->reader.fields[TSV_ATTRIBUTES];
	char kind[16];

	*unit = '\0';
	if (!field->size || !attribute_get(field->text, field->size, "kind", kind, sizeof kind))
		return STORE_METRIC_AMOUNT;
	attribute_get(field->text, field->size, "unit", unit, room);
	return strcmp(kind, "counter") == 0 ? STORE_METRIC_COUNTER
	       : strcmp(kind, "gauge") == 0 ? STORE_METRIC_GAUGE
					    : STORE_METRIC_AMOUNT;
}

/* A sample or value without a metric has its track's usual one. */
static int find_metric(struct import *import, bool is_real, uint32_t *metric, struct error *error)
{
	enum store_metric_kind kind;
	char unit[32];
	bool is_time;
	int rc = tsv_row_text(import, TSV_METRIC, error);

	if (rc < 0)
		return rc;
	store_bytes_put(&import->text, "", 1);
	if (import->text.failed)
		return error_memory(error);
	is_time = strcmp((const char *)import->text.data, "CPUTIME") == 0;
	kind = kind_of(import, unit, sizeof unit);
	if (kind != STORE_METRIC_AMOUNT) {
		*metric = store_writer_figure(
			import->writer, (const char *)import->text.data, unit, is_real, kind);
		return 0;
	}
	*metric = store_writer_metric(
		import->writer, (const char *)import->text.data, is_time ? "ns" : "", is_real);
	return 0;
}

static int take_sample(struct import *import, const struct import_stream *stream, struct store_record *record,
	struct error *error)
{
	struct source_key key = {.stream = (uint64_t)(stream - import->streams)};
	int rc;

	if (tsv_row_is_empty(import, TSV_METRIC))
		import->reader.fields[TSV_METRIC] = (struct tsv_field){"CPUTIME", 7};
	rc = find_metric(import, false, &record->what, error);
	if (rc == 0)
		rc = tsv_reader_number(&import->reader, TSV_WEIGHT, 0, &record->amount, error);
	if (rc < 0)
		return rc;
	key.metric = store_hash128(import->text.data, import->text.size - 1);
	if (!stream->has_source || key_ids_find(&import->sources, &key) != KEY_IDS_NONE)
		record->flags = STORE_RECORD_EXTENT;
	return 0;
}

/* Digits alone are a whole number, anything else that C reads as a number a real one. */
static int take_value(struct import *import, struct store_record *record, struct error *error)
{
	const struct tsv_field *field = &import->reader.fields[TSV_VALUE];
	char text[128], *end;
	double real;
	struct error ignored;

	if (field->size > 0 &&
		tsv_reader_number(&import->reader, TSV_VALUE, 0, &record->amount, &ignored) == 0)
		return find_metric(import, false, &record->what, error);
	if (field->size == 0 || field->size >= sizeof text)
		return tsv_reader_bad(&import->reader, TSV_VALUE, "is no number", error);
	memcpy(text, field->text, field->size);
	text[field->size] = '\0';
	real = strtod(text, &end);
	if (*end || end == text || text[0] == ' ')
		return tsv_reader_bad(&import->reader, TSV_VALUE, "is no number", error);
	memcpy(&record->amount, &real, sizeof real);
	return find_metric(import, true, &record->what, error);
}

static int take_attributes(struct import *import, struct store_record *record, struct error *error)
{
	const struct tsv_field *field = &import->reader.fields[TSV_ATTRIBUTES];
	size_t begin, end;

	import->text.size = 0;
	record->link = slice_find_link(field->text, field->size, &begin, &end);
	if (record->link != 0 && end < field->size)
		end++; /* its comma */
	else if (record->link != 0 && begin > 0)
		begin--;
	escape_composed_undo(&import->text, field->text, begin);
	escape_composed_undo(&import->text, field->text + end, field->size - end);
	if (import->text.failed)
		return error_memory(error);
	record->attributes =
		store_writer_text(import->writer, (const char *)import->text.data, import->text.size);
	return 0;
}

static int take_span(struct import *import, struct store_record *record, struct error *error)
{
	int rc = tsv_reader_number(&import->reader, TSV_END, STORE_OPEN_NS, &record->end_ns, error);

	if (rc == 0 && record->end_ns < record->begin_ns)
		rc = tsv_reader_bad(&import->reader, TSV_END, "is before begin_ns", error);
	if (rc == 0 && record->end_ns == STORE_OPEN_NS && !tsv_row_is_empty(import, TSV_END))
		rc = tsv_reader_bad(&import->reader, TSV_END,
			"is too large; a span without end has an empty end_ns", error);
	if (rc == 0)
		rc = tsv_reader_number(&import->reader, TSV_BYTES, 0, &record->bytes, error);
	if (rc == 0)
		rc = tsv_reader_number(&import->reader, TSV_WEIGHT, 0, &record->amount, error);
	if (rc == 0)
		rc = tsv_row_text(import, TSV_OP, error);
	if (rc < 0)
		return rc;
	record->what = store_writer_op(import->writer, (const char *)import->text.data, import->text.size);
	return take_attributes(import, record, error);
}

int tsv_row_record(struct import *import, const struct import_stream *stream, enum store_track track,
	struct store_record *record, struct error *error)
{
	int rc;

	*record = (struct store_record){0};
	if (tsv_row_is_empty(import, TSV_BEGIN))
		return tsv_reader_bad(&import->reader, TSV_BEGIN, "is empty; every row has a time", error);
	rc = tsv_reader_number(&import->reader, TSV_BEGIN, 0, &record->begin_ns, error);
	if (rc == 0 && record->begin_ns == STORE_OPEN_NS)
		rc = tsv_reader_bad(&import->reader, TSV_BEGIN, "is too large for a time", error);
	record->end_ns = record->begin_ns;
	if (rc < 0)
		return rc;
	if (track == STORE_SPANS)
		return take_span(import, record, error);
	if (!tsv_row_is_empty(import, TSV_END))
		return tsv_reader_bad(&import->reader, TSV_END, "is in a row that is not a span", error);
	return track == STORE_SAMPLES ? take_sample(import, stream, record, error)
				      : take_value(import, record, error);
}
