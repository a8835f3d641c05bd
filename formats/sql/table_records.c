/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_records.c - the records themselves: samples, spans and values, one stream after another, each in the
 * order of time. With a selector's arguments they are those of hpct-slice with these options: cut at the
 * window, with the sample in force there ahead of the others.
 *
 *   streams of the question -> scan of the window -> rows with that context, path, operation, metric
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/library/answer_formulas.h"
#include "formats/library/record_scan.h"
#include "formats/sql/tables.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"

SQLITE_EXTENSION_INIT3

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What a column of any of these tables is. */
enum field {
	FIELD_STREAM,
	FIELD_BEGIN,
	FIELD_END,
	FIELD_PATH,
	FIELD_OP,
	FIELD_BYTES,
	FIELD_WEIGHT,
	FIELD_METRIC,
	FIELD_VALUE,
	FIELD_ATTRIBUTES,
	FIELD_CONTEXT,
	FIELD_LINK,
	FIELD_NONE
};

struct records {
	struct sql_cursor base;
	enum store_track track;
	const enum field *fields; /* of the columns that are shown, then FIELD_NONE */
	/* -- what is asked -- */
	uint32_t one; /* the only stream */
	struct record_scan scan;
	bool has_context;
	uint32_t context;
	const char *path, *glob, *what; /* NULL: any */
	uint8_t *path_fits;		/* [context] 0: not asked yet, 1: no, 2: yes */
	uint32_t what_last;		/* the operation or metric that was looked at last */
	bool what_fits;
	/* -- where it is -- */
	const struct batch *batch;
	size_t at; /* of the batch, the next row */
	struct store_record record;
	struct answer_formulas formulas;
	/* -- who its rows are; of the moment of the row that was asked for last -- */
	struct key_ids met; /* of hash_record() */
	uint64_t *met_count;
	size_t met_capacity;
	uint64_t met_ns, met_identity;
	size_t met_row;
	uint32_t met_stream;
	bool has_met;
};

static const enum field sample_fields[] = {
	FIELD_STREAM, FIELD_BEGIN, FIELD_PATH, FIELD_WEIGHT, FIELD_METRIC, FIELD_CONTEXT, FIELD_NONE};
static const enum field span_fields[] = {FIELD_STREAM, FIELD_BEGIN, FIELD_END, FIELD_PATH, FIELD_OP,
	FIELD_BYTES, FIELD_WEIGHT, FIELD_ATTRIBUTES, FIELD_CONTEXT, FIELD_LINK, FIELD_NONE};
static const enum field value_fields[] = {
	FIELD_STREAM, FIELD_BEGIN, FIELD_PATH, FIELD_METRIC, FIELD_VALUE, FIELD_CONTEXT, FIELD_NONE};

/* What each field is read from. */
static const unsigned field_columns[FIELD_NONE] = {
	[FIELD_END] = STORE_END,
	[FIELD_PATH] = STORE_CONTEXT,
	[FIELD_OP] = STORE_WHAT,
	[FIELD_BYTES] = STORE_BYTES,
	[FIELD_WEIGHT] = STORE_AMOUNT,
	[FIELD_METRIC] = STORE_WHAT,
	[FIELD_VALUE] = STORE_AMOUNT | STORE_WHAT,
	[FIELD_ATTRIBUTES] = STORE_ATTRIBUTES | STORE_LINK,
	[FIELD_CONTEXT] = STORE_CONTEXT,
	[FIELD_LINK] = STORE_LINK,
};

/* ---- the question ---- */

static const struct sql_limit *limit_of(
	const struct records *records, const struct sql_ask *ask, const char *column)
{
	int found = sql_column_find(records->base.table, column);

	return found < 0 ? NULL : &ask->limits[found];
}

/* Absolute, of a time from the origin. */
static uint64_t absolute(const struct records *records, sqlite3_int64 time_ns)
{
	uint64_t origin_ns = run_origin_ns(records->base.call.run);

	return time_ns <= 0 ? 0 : origin_ns + (uint64_t)time_ns;
}

/* The first moment that is too late. */
static uint64_t behind(const struct records *records, sqlite3_int64 most_ns)
{
	if (most_ns == INT64_MAX)
		return STORE_OPEN_NS;
	return most_ns < 0 ? 0 : run_origin_ns(records->base.call.run) + (uint64_t)most_ns + 1;
}

/* To what can fit. Times are printed from the origin on, which may be after a stream's first record: 0 takes
 * in all of these. A span that is still open has no end: = and < do not hold for it. */
static void narrow(struct records *records, const struct sql_ask *ask)
{
	const struct sql_limit *begin = limit_of(records, ask, "begin_ns");
	const struct sql_limit *end = limit_of(records, ask, "end_ns");
	uint64_t from_ns = absolute(records, begin->least), until_ns = behind(records, begin->most);

	if (end && end->least > INT64_MIN && absolute(records, end->least - 1) > from_ns)
		from_ns = absolute(records, end->least - 1);
	if (end && behind(records, end->most) < until_ns)
		until_ns = behind(records, end->most);
	if (from_ns > records->scan.begin_ns)
		records->scan.begin_ns = from_ns;
	if (until_ns < records->scan.end_ns)
		records->scan.end_ns = until_ns;
}

static void choose_stream(struct records *records, const struct sql_ask *ask)
{
	const char *stream = sql_ask_text(&records->base, ask, "stream");
	struct record_scan *scan = &records->scan;
	bool is_there = scan->streams == NULL;

	if (!stream)
		return;
	records->one = sql_run_stream(records->base.run, stream);
	for (uint32_t i = 0; i < scan->stream_count && !is_there; i++)
		is_there = scan->streams[i] == records->one;
	scan->streams = &records->one;
	scan->stream_count = records->one != UINT32_MAX && is_there;
}

/* Texts live as long as the cursor's arena; false: no memory. */
static bool copy_text(const struct records *records, const char **copy, sqlite3_value *value)
{
	const char *text = value ? (const char *)sqlite3_value_text(value) : NULL;

	*copy = text ? arena_copy((struct arena *)&records->base.call.arena, text, strlen(text)) : NULL;
	return !text || *copy;
}

static int take_filters(struct records *records, const struct sql_ask *ask, struct error *error)
{
	const struct sql_limit *context = limit_of(records, ask, "context"),
			       *path = limit_of(records, ask, "path");
	const struct sql_limit *what =
		limit_of(records, ask, records->track == STORE_SPANS ? "op" : "metric");

	records->has_context = context->equal && sqlite3_value_numeric_type(context->equal) == SQLITE_INTEGER;
	if (records->has_context) {
		sqlite3_int64 number = sqlite3_value_int64(context->equal);

		records->context = number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	}
	if (!copy_text(records, &records->path, path->equal) ||
		!copy_text(records, &records->glob, path->glob) ||
		!copy_text(records, &records->what, what->equal))
		return error_memory(error);
	records->what_last = UINT32_MAX;
	if (!records->path && !records->glob)
		return 0;
	records->path_fits = arena_calloc(
		&records->base.call.arena, (size_t)run_context_count(records->base.call.run) + 1, 1);
	return records->path_fits ? 0 : error_memory(error);
}

/* With a selector's arguments those that it selects; else every record, as it is. */
static int begin_scan(struct records *records, const struct sql_ask *ask, struct error *error)
{
	struct program_call *call = &records->base.call;
	int rc = sql_cursor_selects(&records->base, ask)
			 ? sql_cursor_select(&records->base, ask, PROGRAM_FORMULAS, error)
			 : 0;

	return rc < 0 ? rc : record_scan_init(&records->scan, call->run, call->select, records->track, error);
}

static unsigned columns_of(const struct records *records, const struct sql_ask *ask)
{
	unsigned columns = STORE_BEGIN;

	for (size_t i = 0; records->fields[i] != FIELD_NONE; i++)
		if (ask->used >> i & 1)
			columns |= field_columns[records->fields[i]];
	if (records->has_context || records->path_fits)
		columns |= STORE_CONTEXT;
	if (records->formulas.formulas.count)
		columns |= STORE_END | STORE_AMOUNT | STORE_WHAT | STORE_BYTES;
	return records->what ? columns | STORE_WHAT : columns;
}

/* ---- formulas ---- */

static int take_formulas(struct records *records, struct error *error)
{
	struct program_call *call = &records->base.call;
	int rc;

	if (!answer_formulas_count(call->select))
		return 0;
	rc = answer_formulas_init(&records->formulas, call->select, NULL, 0, 0, record_scan_numbers,
		RECORD_SCAN_NUMBERS, &call->arena, error);
	return rc < 0 ? rc : formula_columns_refuse_whole(&records->formulas.formulas, error);
}

static double since_origin(const struct records *records, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(records->base.call.run);

	return time_ns > origin_ns ? (double)(time_ns - origin_ns) : 0;
}

static double value_of(const struct records *records)
{
	double real;

	if (!run_metric_is_real(records->base.call.run, records->record.what))
		return (double)records->record.amount;
	memcpy(&real, &records->record.amount, sizeof real);
	return real;
}

static void fill_numbers(const struct records *records, double numbers[RECORD_SCAN_NUMBERS])
{
	const struct store_record *record = &records->record;
	bool is_span = records->track == STORE_SPANS;

	for (size_t i = 0; i < RECORD_SCAN_NUMBERS; i++)
		numbers[i] = NAN;
	numbers[RECORD_SCAN_BEGIN] = since_origin(records, record->begin_ns);
	if (is_span && record->end_ns != STORE_OPEN_NS)
		numbers[RECORD_SCAN_END] = since_origin(records, record->end_ns);
	if (is_span && record->bytes)
		numbers[RECORD_SCAN_BYTES] = (double)record->bytes;
	if (records->track == STORE_SAMPLES || (is_span && record->amount))
		numbers[RECORD_SCAN_WEIGHT] = (double)record->amount;
	if (records->track == STORE_VALUES)
		numbers[RECORD_SCAN_VALUE] = value_of(records);
}

static void put_formula(struct records *records, sqlite3_context *out)
{
	const struct formula_columns *formulas = &records->formulas.formulas;
	double *row = records->formulas.row, value;

	if (!formulas->count)
		return;
	fill_numbers(records, row);
	formula_columns_fill(formulas, row, records->formulas.whole);
	value = row[formulas->width + formulas->count - 1];
	if (isfinite(value))
		sqlite3_result_double(out, value);
}

/* ---- walking ---- */

/* NULL: no memory. */
static const char *what_text(const struct records *records)
{
	struct sql_run *run = records->base.run;

	return records->track == STORE_SPANS ? sql_run_op_text(run, records->record.what)
					     : sql_run_metric_text(run, records->record.what);
}

/* Of the same operation or metric the answer is the same. Without memory the row stays, for SQLite to see. */
static bool what_fits(struct records *records)
{
	const char *text;

	if (!records->what || records->what_last == records->record.what)
		return !records->what || records->what_fits;
	text = what_text(records);
	records->what_last = records->record.what;
	records->what_fits = !text || strcmp(text, records->what) == 0;
	return records->what_fits;
}

/* Without memory for a path the row stays, for SQLite to see. */
static bool path_fits(struct records *records)
{
	uint32_t context = records->record.context;
	const char *path;

	if (!records->path_fits || records->path_fits[context])
		return !records->path_fits || records->path_fits[context] == 2;
	path = sql_run_path(records->base.run, context);
	records->path_fits[context] =
		path && ((records->path && strcmp(records->path, path) != 0) ||
				(records->glob && sqlite3_strglob(records->glob, path) != 0))
			? 1
			: 2;
	return records->path_fits[context] == 2;
}

static bool is_wanted(struct records *records)
{
	return (!records->has_context || records->record.context == records->context) && what_fits(records) &&
	       path_fits(records) && record_scan_take(&records->scan, &records->record);
}

/* The next row that is wanted. */
static int records_next(struct sql_cursor *cursor, struct error *error)
{
	struct records *records = (struct records *)cursor;
	long count = 1;

	while (count > 0) {
		while (records->batch && records->at < records->batch->count) {
			record_scan_row(records->batch, records->at++, &records->record);
			if (is_wanted(records))
				return 0;
		}
		records->at = 0;
		count = record_scan_next(&records->scan, &records->batch, error);
	}
	records->batch = NULL;
	cursor->at_end = true;
	return (int)count;
}

static int open_track(struct sql_cursor *cursor, enum store_track track, const enum field *fields,
	const struct sql_ask *ask, struct error *error)
{
	struct records *records = (struct records *)cursor;
	int rc;

	*records = (struct records){.base = *cursor, .track = track, .fields = fields};
	key_ids_init(&records->met, sizeof(uint64_t));
	rc = begin_scan(records, ask, error);
	if (rc == 0)
		rc = take_filters(records, ask, error);
	if (rc == 0)
		rc = take_formulas(records, error);
	if (rc < 0)
		return rc;
	choose_stream(records, ask);
	narrow(records, ask);
	records->scan.columns = columns_of(records, ask);
	return records_next(cursor, error);
}

static void records_close(struct sql_cursor *cursor)
{
	struct records *records = (struct records *)cursor;

	record_scan_fini(&records->scan);
	answer_formulas_fini(&records->formulas);
	records->batch = NULL;
	key_ids_fini(&records->met);
	free(records->met_count);
	records->met_count = NULL;
	records->met_capacity = 0;
}

/* ---- identities ---- */

#define MET_KEPT 64 /* a table of more is freed at the next moment: to clear it takes long */

static uint64_t hash_record(const struct records *records)
{
	const struct store_record *record = &records->record;
	const uint64_t words[] = {records->scan.stream, record->begin_ns, record->end_ns, record->amount,
		record->bytes, record->link, (uint64_t)record->context << 32 | record->what,
		record->attributes};

	return store_hash64(words, sizeof words, 0);
}

/* Of rows that are alike in what is read a filter gives all or none, one after another or with others of the
 * same moment between: they are counted. Each row is asked for at most once, but for the current one. */
static bool records_identity(struct sql_cursor *cursor, uint64_t *identity)
{
	struct records *records = (struct records *)cursor;
	uint64_t twin[2] = {hash_record(records)}; /* and how many are before it */
	uint32_t number;
	bool is_new;

	if (records->has_met && records->met_row == cursor->row) {
		*identity = records->met_identity;
		return true;
	}
	if (records->met_ns != records->record.begin_ns || records->met_stream != records->scan.stream)
		(records->met.count > MET_KEPT ? key_ids_fini : key_ids_clear)(&records->met);
	number = key_ids_put(&records->met, twin, &is_new);
	if (number == KEY_IDS_NONE ||
		!array_widen(&records->met_count, &records->met_capacity, number, sizeof *records->met_count))
		return false;
	twin[1] = is_new ? 0 : records->met_count[number];
	records->met_count[number] = twin[1] + 1;
	records->has_met = true;
	records->met_row = cursor->row;
	records->met_ns = records->record.begin_ns;
	records->met_stream = records->scan.stream;
	*identity = records->met_identity = store_hash64(twin, sizeof twin, 0);
	return true;
}

/* ---- columns ---- */

static void put_attributes(struct records *records, sqlite3_context *out)
{
	struct run *run = records->base.call.run;
	struct store_bytes *text = &records->base.text;
	unsigned store = run_stream_peek_unnamed(run, records->scan.stream)->store;
	size_t size;
	const char *attributes = store_reader_text(run_store(run, store), records->record.attributes, &size);

	text->size = 0;
	slice_put_attributes(text, attributes, size, records->record.link);
	if (text->failed)
		sqlite3_result_error_nomem(out);
	else if (text->size)
		sqlite3_result_text64(
			out, (const char *)text->data, text->size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void put_value(const struct records *records, sqlite3_context *out)
{
	if (run_metric_is_real(records->base.call.run, records->record.what))
		sqlite3_result_double(out, value_of(records));
	else
		sql_put_number(out, records->record.amount);
}

static void records_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	struct records *records = (struct records *)cursor;
	const struct store_record *record = &records->record;
	bool is_span = records->track == STORE_SPANS;

	if (cursor->table->columns[column].use & SQL_FORMULA) {
		put_formula(records, out);
		return;
	}
	switch (records->fields[column]) {
	case FIELD_STREAM:
		sql_put_lasting(out, sql_run_stream_text(cursor->run, records->scan.stream));
		break;
	case FIELD_BEGIN:
		sql_put_time(cursor, out, record->begin_ns);
		break;
	case FIELD_END:
		if (record->end_ns != STORE_OPEN_NS)
			sql_put_time(cursor, out, record->end_ns);
		break;
	case FIELD_PATH:
		sql_put_path(cursor, out, record->context);
		break;
	case FIELD_OP:
	case FIELD_METRIC:
		sql_put_lasting(out, what_text(records));
		break;
	case FIELD_BYTES:
		sql_put_optional(out, record->bytes, record->bytes != 0);
		break;
	case FIELD_WEIGHT:
		sql_put_optional(out, record->amount, !is_span || record->amount != 0);
		break;
	case FIELD_VALUE:
		put_value(records, out);
		break;
	case FIELD_ATTRIBUTES:
		put_attributes(records, out);
		break;
	case FIELD_CONTEXT:
		sql_put_optional(out, record->context, record->context != 0);
		break;
	default:
		sql_put_optional(out, record->link, record->link != 0);
	}
}

/* ---- the three tables ---- */

#define SELECTED                                                                                   \
	{"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT}, {"streams", "TEXT", SQL_ARGUMENT}, \
	{                                                                                          \
		"contexts", "TEXT", SQL_ARGUMENT                                                   \
	}
#define STREAM                              \
	{                                   \
		"stream", "TEXT", SQL_EQUAL \
	}
#define BEGIN                                    \
	{                                        \
		"begin_ns", "INTEGER", SQL_RANGE \
	}
#define PATH                                         \
	{                                            \
		"path", "TEXT", SQL_EQUAL | SQL_GLOB \
	}
#define CONTEXT                                 \
	{                                       \
		"context", "INTEGER", SQL_EQUAL \
	}
#define RUN                                 \
	{                                   \
		"run", "TEXT", SQL_ARGUMENT \
	}

static const struct sql_column sample_columns[] = {STREAM, BEGIN, PATH, {"weight", "INTEGER"},
	{"metric", "TEXT", SQL_EQUAL}, CONTEXT, SELECTED, SQL_METRICS_COLUMN, RUN, SQL_FORMULA_COLUMN};

static const struct sql_column span_columns[] = {STREAM, BEGIN, {"end_ns", "INTEGER", SQL_RANGE}, PATH,
	{"op", "TEXT", SQL_EQUAL}, {"bytes", "INTEGER"}, {"weight", "INTEGER"}, {"attributes", "TEXT"},
	CONTEXT, {"link", "INTEGER"}, SELECTED, {"ops", "TEXT", SQL_ARGUMENT}, {"min", "", SQL_ARGUMENT}, RUN,
	SQL_METRICS_COLUMN, SQL_FORMULA_COLUMN};

static const struct sql_column value_columns[] = {STREAM, BEGIN, PATH, {"metric", "TEXT", SQL_EQUAL},
	{"value", ""}, CONTEXT, SELECTED, SQL_METRICS_COLUMN, RUN, SQL_FORMULA_COLUMN};

static int samples_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	return open_track(cursor, STORE_SAMPLES, sample_fields, ask, error);
}

static int spans_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	return open_track(cursor, STORE_SPANS, span_fields, ask, error);
}

static int values_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	return open_track(cursor, STORE_VALUES, value_fields, ask, error);
}

const struct sql_table sql_table_samples = {.name = "samples",
	.columns = sample_columns,
	.column_count = COUNT(sample_columns),
	.rows = 1e7,
	.cursor_bytes = sizeof(struct records),
	.open = samples_open,
	.next = records_next,
	.column = records_column,
	.identity = records_identity,
	.close = records_close};

const struct sql_table sql_table_spans = {.name = "spans",
	.columns = span_columns,
	.column_count = COUNT(span_columns),
	.rows = 1e7,
	.cursor_bytes = sizeof(struct records),
	.open = spans_open,
	.next = records_next,
	.column = records_column,
	.identity = records_identity,
	.close = records_close};

const struct sql_table sql_table_values = {.name = "values",
	.columns = value_columns,
	.column_count = COUNT(value_columns),
	.rows = 1e6,
	.cursor_bytes = sizeof(struct records),
	.open = values_open,
	.next = records_next,
	.column = records_column,
	.identity = records_identity,
	.close = records_close};
