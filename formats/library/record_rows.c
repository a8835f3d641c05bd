/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rows.c - batches of scans copied into columns. Where the selector takes all rows as they are, a
 * column is filled at once; else row by row.
 */
#include "formats/library/record_rows.h"

#include <stdlib.h>

#include "formats/library/answer_formulas.h"
#include "formats/library/question.h"
#include "store/base/array.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
	FIELD_COUNT
};

#define COLUMNS_MAX 10

struct track_columns {
	struct column_spec specs[COLUMNS_MAX];
	enum field fields[COLUMNS_MAX];
	size_t count;
};

static const struct track_columns tracks[STORE_TRACK_COUNT] = {
	[STORE_SAMPLES] = {{{"stream", HPCT_CHOICE}, {"begin_ns", HPCT_INT64}, {"path", HPCT_CHOICE},
				   {"weight", HPCT_UINT64}, {"metric", HPCT_CHOICE},
				   {"context", HPCT_UINT32}},
		{FIELD_STREAM, FIELD_BEGIN, FIELD_PATH, FIELD_WEIGHT, FIELD_METRIC, FIELD_CONTEXT}, 6},
	[STORE_SPANS] = {{{"stream", HPCT_CHOICE}, {"begin_ns", HPCT_INT64}, {"end_ns", HPCT_INT64},
				 {"path", HPCT_CHOICE}, {"op", HPCT_CHOICE}, {"bytes", HPCT_UINT64},
				 {"weight", HPCT_UINT64}, {"attributes", HPCT_TEXT}, {"context", HPCT_UINT32},
				 {"link", HPCT_UINT64}},
		{FIELD_STREAM, FIELD_BEGIN, FIELD_END, FIELD_PATH, FIELD_OP, FIELD_BYTES, FIELD_WEIGHT,
			FIELD_ATTRIBUTES, FIELD_CONTEXT, FIELD_LINK},
		10},
	[STORE_VALUES] = {{{"stream", HPCT_CHOICE}, {"begin_ns", HPCT_INT64}, {"path", HPCT_CHOICE},
				  {"metric", HPCT_CHOICE}, {"value", HPCT_REAL}, {"context", HPCT_UINT32}},
		{FIELD_STREAM, FIELD_BEGIN, FIELD_PATH, FIELD_METRIC, FIELD_VALUE, FIELD_CONTEXT}, 6},
};

/* What each field is read from. */
static const unsigned field_columns[FIELD_COUNT] = {
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

/* Which text of a batch an id is: 0 not yet met, else its number and 1. Several ids may have one text:
 * contexts that differ in their lines. */
struct choices {
	uint32_t *number_of;
	size_t count;
	struct key_ids texts; /* their hashes, by number */
};

struct record_rows {
	struct record_scan scan;
	const struct track_columns *track;
	const struct column_spec *specs; /* of the track, then of formulas */
	size_t spec_count;
	const bool *wanted, *needed; /* by spec: shown; to have values */
	struct answer_formulas formulas;
	struct arena arena;
	uint64_t origin_ns;
	struct choices streams, paths, whats;
	struct batch kept; /* the selected rows of a batch */
	bool has_given;
	struct store_bytes text; /* scratch */
};

const struct column_spec *record_rows_specs(enum store_track track, size_t *count)
{
	*count = tracks[track].count;
	return tracks[track].specs;
}

static unsigned columns_of(const struct record_rows *rows)
{
	unsigned columns = STORE_BEGIN;

	for (size_t i = 0; i < rows->track->count; i++)
		if (!rows->needed || rows->needed[i])
			columns |= field_columns[rows->track->fields[i]];
	return columns;
}

static int take_formulas(struct record_rows *rows, const struct select *select, struct error *error)
{
	const struct track_columns *track = rows->track;
	int rc;

	rows->spec_count = track->count;
	rows->specs = answer_specs(track->specs, &rows->spec_count, select, &rows->arena, error);
	rc = rows->specs ? answer_wanted(&rows->needed, rows->wanted, track->specs, track->count, select,
				   &rows->arena, error)
			 : -ERROR_IO;
	if (rc == 0 && rows->spec_count > track->count)
		rc = answer_formulas_init(&rows->formulas, select, track->specs, track->count, 0,
			record_scan_numbers, RECORD_SCAN_NUMBERS, &rows->arena, error);
	return rc ? rc : formula_columns_refuse_whole(&rows->formulas.formulas, error);
}

int record_rows_new(struct record_rows **made, struct run *run, const struct select *select,
	enum store_track track, const bool *wanted, struct error *error)
{
	struct record_rows *rows = calloc(1, sizeof *rows);
	int rc = rows ? record_scan_init(&rows->scan, run, select, track, error) : error_memory(error);

	if (rc < 0) {
		free(rows);
		return rc;
	}
	rows->track = &tracks[track];
	rows->wanted = wanted;
	rows->origin_ns = run_origin_ns(run);
	rc = take_formulas(rows, select, error);
	rows->scan.columns = columns_of(rows);
	if (rc == 0 && !record_scan_takes_all(&rows->scan))
		rc = batch_init(&rows->kept, rows->scan.columns, error);
	key_ids_init(&rows->streams.texts, sizeof(struct store_hash));
	key_ids_init(&rows->paths.texts, sizeof(struct store_hash));
	key_ids_init(&rows->whats.texts, sizeof(struct store_hash));
	if (rc < 0)
		record_rows_free(rows);
	else
		*made = rows;
	return rc;
}

static void choices_fini(struct choices *choices)
{
	free(choices->number_of);
	key_ids_fini(&choices->texts);
}

void record_rows_free(struct record_rows *rows)
{
	if (!rows)
		return;
	record_scan_fini(&rows->scan);
	choices_fini(&rows->streams);
	choices_fini(&rows->paths);
	choices_fini(&rows->whats);
	batch_fini(&rows->kept);
	answer_formulas_fini(&rows->formulas);
	arena_fini(&rows->arena);
	store_bytes_fini(&rows->text);
	free(rows);
}

/* ---- choices ---- */

/* Where the number of an id is; NULL: no memory. */
static uint32_t *number_of(struct choices *choices, uint32_t id)
{
	size_t wanted = (size_t)id + 1 > 2 * choices->count ? (size_t)id + 1 : 2 * choices->count;

	if (id < choices->count)
		return &choices->number_of[id];
	if (!array_resize_zero(&choices->number_of, choices->count, wanted, sizeof *choices->number_of))
		return NULL;
	choices->count = wanted;
	return &choices->number_of[id];
}

static void choices_forget(struct choices *choices)
{
	if (choices->count)
		memset(choices->number_of, 0, choices->count * sizeof *choices->number_of);
	key_ids_clear(&choices->texts);
}

/* In `out`, escaped; "" of no context. */
static void make_text(struct store_bytes *out, const struct record_rows *rows, enum field field, uint32_t id)
{
	const struct run *run = rows->scan.run;
	const char *raw = field == FIELD_STREAM ? run_stream(run, id)->text
			  : field == FIELD_OP	? run_op_name(run, id)
						: run_metric_name(run, id);

	escape_field(out, raw, strlen(raw));
}

static void make_path(struct store_bytes *out, const struct record_rows *rows, uint32_t context)
{
	uint32_t depth = rows->scan.select ? select_depth(rows->scan.select) : UINT32_MAX;
	struct arena arena = {0};
	const char *path = context ? run_context_path(rows->scan.run, context, depth, &arena) : "";

	out->failed |= !path;
	if (path)
		store_bytes_put(out, path, strlen(path));
	arena_fini(&arena);
}

/* The number of an id's text among the choices, to which it is added; KEY_IDS_NONE: no memory. */
static uint32_t text_number(struct column *column, struct choices *choices, struct record_rows *rows,
	enum field field, uint32_t id)
{
	struct store_hash hash;
	uint32_t number;
	bool is_new;

	rows->text.size = 0;
	if (field == FIELD_PATH)
		make_path(&rows->text, rows, id);
	else
		make_text(&rows->text, rows, field, id);
	if (rows->text.failed)
		return KEY_IDS_NONE;
	hash = store_hash128(rows->text.data, rows->text.size);
	number = key_ids_put(&choices->texts, &hash, &is_new);
	if (number != KEY_IDS_NONE && is_new)
		column_put_composed(column->choices, (const char *)rows->text.data, rows->text.size);
	return number;
}

/* Where it is met first. */
static uint32_t choose(struct column *column, struct record_rows *rows, enum field field, uint32_t id)
{
	struct choices *choices = field == FIELD_STREAM ? &rows->streams
				  : field == FIELD_PATH ? &rows->paths
							: &rows->whats;
	uint32_t *number = number_of(choices, id), found;

	if (number && *number)
		return *number - 1;
	found = number ? text_number(column, choices, rows, field, id) : KEY_IDS_NONE;
	if (found == KEY_IDS_NONE) {
		column->data.failed = true;
		return 0;
	}
	*number = found + 1;
	return found;
}

/* ---- a whole batch ---- */

static void fill_times(
	struct column *column, const struct record_rows *rows, const uint64_t *times_ns, size_t count)
{
	int64_t *to = column_reserve(column, count);

	for (size_t i = 0; to && i < count; i++) {
		uint64_t since_ns = times_ns[i] > rows->origin_ns ? times_ns[i] - rows->origin_ns : 0;

		to[i] = since_ns < INT64_MAX ? (int64_t)since_ns : INT64_MAX;
	}
}

static void fill_choices(
	struct column *column, struct record_rows *rows, enum field field, const uint32_t *ids, size_t count)
{
	uint32_t *to = column_reserve(column, count);

	for (size_t i = 0; to && i < count; i++) {
		const struct choices *choices = field == FIELD_PATH ? &rows->paths : &rows->whats;

		to[i] = ids[i] < choices->count && choices->number_of[ids[i]]
				? choices->number_of[ids[i]] - 1
				: choose(column, rows, field, ids[i]);
	}
}

static void fill_stream(struct column *column, struct record_rows *rows, size_t count)
{
	uint32_t choice = choose(column, rows, FIELD_STREAM, rows->scan.stream);
	uint32_t *to = column_reserve(column, count);

	for (size_t i = 0; to && i < count; i++)
		to[i] = choice;
}

static void copy(struct column *column, const void *from, size_t count, size_t width)
{
	void *to = column_reserve(column, count);

	if (to)
		memcpy(to, from, count * width);
}

static bool are_closed(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->end_ns[i] == STORE_OPEN_NS)
			return false;
	return true;
}

static bool have_contexts(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->context[i])
			return false;
	return true;
}

/* False: the column goes value by value, since some rows may have none. */
static bool fill_column(
	struct column *column, struct record_rows *rows, enum field field, const struct batch *batch)
{
	switch (field) {
	case FIELD_STREAM:
		fill_stream(column, rows, batch->count);
		return true;
	case FIELD_BEGIN:
		fill_times(column, rows, batch->begin_ns, batch->count);
		return true;
	case FIELD_END:
		if (!are_closed(batch))
			return false;
		fill_times(column, rows, batch->end_ns, batch->count);
		return true;
	case FIELD_CONTEXT:
		if (!have_contexts(batch))
			return false;
		copy(column, batch->context, batch->count, sizeof *batch->context);
		return true;
	case FIELD_PATH:
		fill_choices(column, rows, field, batch->context, batch->count);
		return true;
	case FIELD_OP:
	case FIELD_METRIC:
		fill_choices(column, rows, field, batch->what, batch->count);
		return true;
	case FIELD_WEIGHT:
		if (rows->scan.track == STORE_SPANS)
			return false;
		copy(column, batch->amount, batch->count, sizeof *batch->amount);
		return true;
	default:
		return false;
	}
}

/* ---- a value ---- */

static void put_attributes(struct column *column, struct record_rows *rows, const struct store_record *record)
{
	const struct run *run = rows->scan.run;
	unsigned store;
	size_t size;
	const char *attributes;

	if (!column->is_wanted)
		return;
	store = run_stream_peek_unnamed(rows->scan.run, rows->scan.stream)->store;
	attributes = store_reader_text(run_store(run, store), record->attributes, &size);
	rows->text.size = 0;
	slice_put_attributes(&rows->text, attributes, size, record->link);
	column->data.failed |= rows->text.failed;
	if (rows->text.size)
		column_put_composed(column, (const char *)rows->text.data, rows->text.size);
	else
		column_put_none(column);
}

static double value_of(const struct record_rows *rows, const struct store_record *record)
{
	double real;

	if (!run_metric_is_real(rows->scan.run, record->what))
		return (double)record->amount;
	memcpy(&real, &record->amount, sizeof real);
	return real;
}

static void put_value(
	struct column *column, struct record_rows *rows, enum field field, const struct store_record *record)
{
	const struct run *run = rows->scan.run;
	bool is_span = rows->scan.track == STORE_SPANS;

	switch (field) {
	case FIELD_STREAM:
		column_put_choice(column, choose(column, rows, field, rows->scan.stream));
		break;
	case FIELD_BEGIN:
		column_put_time(column, run, record->begin_ns);
		break;
	case FIELD_END:
		if (record->end_ns == STORE_OPEN_NS)
			column_put_none(column);
		else
			column_put_time(column, run, record->end_ns);
		break;
	case FIELD_PATH:
		column_put_choice(column, choose(column, rows, field, record->context));
		break;
	case FIELD_OP:
	case FIELD_METRIC:
		column_put_choice(column, choose(column, rows, field, record->what));
		break;
	case FIELD_BYTES:
		column_put_optional(column, record->bytes, record->bytes != 0);
		break;
	case FIELD_WEIGHT:
		column_put_optional(column, record->amount, !is_span || record->amount != 0);
		break;
	case FIELD_VALUE:
		column_put_real(column, value_of(rows, record));
		break;
	case FIELD_ATTRIBUTES:
		put_attributes(column, rows, record);
		break;
	case FIELD_CONTEXT:
		column_put_optional(column, record->context, record->context != 0);
		break;
	default:
		column_put_optional(column, record->link, record->link != 0);
	}
}

/* ---- batches ---- */

static void put_batch(struct column *columns, struct record_rows *rows, const struct batch *batch)
{
	struct store_record record;

	for (size_t i = 0; i < rows->track->count; i++) {
		enum field field = rows->track->fields[i];

		if (!columns[i].is_wanted || fill_column(&columns[i], rows, field, batch))
			continue;
		for (size_t row = 0; row < batch->count; row++) {
			record_scan_row(batch, row, &record);
			put_value(&columns[i], rows, field, &record);
		}
	}
}

static void put_record(struct batch *batch, const struct store_record *record)
{
	size_t at = batch->count++;

	batch->begin_ns[at] = record->begin_ns;
	if (batch->end_ns)
		batch->end_ns[at] = record->end_ns;
	if (batch->amount)
		batch->amount[at] = record->amount;
	if (batch->bytes)
		batch->bytes[at] = record->bytes;
	if (batch->link)
		batch->link[at] = record->link;
	if (batch->context)
		batch->context[at] = record->context;
	if (batch->what)
		batch->what[at] = record->what;
	if (batch->attributes)
		batch->attributes[at] = record->attributes;
}

static void put_selected(struct column *columns, struct record_rows *rows, const struct batch *batch)
{
	struct store_record record;

	rows->kept.count = 0;
	for (size_t row = 0; row < batch->count; row++) {
		record_scan_row(batch, row, &record);
		if (record_scan_take(&rows->scan, &record))
			put_record(&rows->kept, &record);
	}
	if (rows->kept.count)
		put_batch(columns, rows, &rows->kept);
}

static size_t rows_of(const struct hpct_batch *batch)
{
	return batch->wanted_count ? batch->wanted[0]->count : 0;
}

int record_rows_next(struct record_rows *rows, size_t most, struct hpct_batch **given, struct error *error)
{
	bool takes_all = record_scan_takes_all(&rows->scan);
	const struct batch *from;
	struct hpct_batch *batch;
	long count = 1;
	int rc = columns_new(&batch, rows->specs, rows->spec_count, rows->needed, false, error);

	if (rc < 0)
		return rc;
	choices_forget(&rows->streams);
	choices_forget(&rows->paths);
	choices_forget(&rows->whats);
	while (count > 0 && (!most || rows_of(batch) < most)) {
		count = record_scan_next(&rows->scan, &from, error);
		if (count > 0)
			(takes_all ? put_batch : put_selected)(batch->columns, rows, from);
	}
	answer_formulas_put(&rows->formulas, batch, NULL);
	if (rows->wanted)
		columns_show(batch, rows->wanted);
	rc = count < 0 ? (int)count : columns_end(batch, error);
	if (rc < 0 || (batch->row_count == 0 && rows->has_given)) {
		columns_drop(batch);
		return rc;
	}
	rows->has_given = true;
	*given = batch;
	return 1;
}
