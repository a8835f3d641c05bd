/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_names.c - what a run is made of: its streams, contexts, modules, metrics and marks.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/sql/tables.h"
#include "store/base/array.h"
#include "timeline/run/row_key.h"
#include "timeline/select/bookmark.h"
#include "timeline/stats/info.h"

SQLITE_EXTENSION_INIT3

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The row that = of a key asks for, among `count`; a list of that row alone. */
static void keep_one(struct sql_cursor *cursor, uint64_t row, uint64_t count)
{
	cursor->row = row < count ? (size_t)row : 0;
	cursor->count = row < count ? (size_t)row + 1 : 0;
}

/* ---- streams: the columns of hpct-info --streams ---- */

enum {
	STREAM_STREAM,
	STREAM_KIND,
	STREAM_HOST,
	STREAM_RANK,
	STREAM_PID,
	STREAM_TID,
	STREAM_DEVICE,
	STREAM_QUEUE,
	STREAM_NAME,
	STREAM_BEGIN,
	STREAM_END,
	STREAM_SAMPLES,
	STREAM_SPANS,
	STREAM_VALUES,
	STREAM_LOST,
	STREAM_DEVICE_NAME,
	STREAM_RUN
};

static const struct sql_column stream_columns[] = {{"stream", "TEXT", SQL_EQUAL | SQL_KEY}, {"kind", "TEXT"},
	{"host", "TEXT"}, {"rank", "INTEGER"}, {"pid", "INTEGER"}, {"tid", "INTEGER"}, {"device", "INTEGER"},
	{"queue", "INTEGER"}, {"name", "TEXT"}, {"begin_ns", "INTEGER"}, {"end_ns", "INTEGER"},
	{"samples", "INTEGER"}, {"spans", "INTEGER"}, {"values", "INTEGER"}, {"lost", "INTEGER"},
	{"device_name", "TEXT"}, {"run", "TEXT", SQL_ARGUMENT}};

static int streams_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	const char *stream = sql_ask_text(cursor, ask, "stream");

	(void)error;
	cursor->count = run_stream_count(cursor->call.run);
	if (stream)
		keep_one(cursor, sql_run_stream(cursor->run, stream), cursor->count);
	return 0;
}

static void streams_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct run_stream *stream = run_stream(cursor->call.run, (uint32_t)cursor->row);
	const struct store_stream *s = &stream->s;
	bool is_gpu = s->kind != STORE_STREAM_CPU;

	switch (column) {
	case STREAM_STREAM:
		sql_put_lasting(out, sql_run_stream_text(cursor->run, (uint32_t)cursor->row));
		break;
	case STREAM_KIND:
		sql_put_composed(out, info_stream_kind(s->kind));
		break;
	case STREAM_HOST:
		sql_put_string(cursor, out, stream->host);
		break;
	case STREAM_RANK:
		sql_put_optional(out, (uint32_t)s->rank, s->rank >= 0);
		break;
	case STREAM_PID:
		sql_put_optional(out, s->pid, s->pid != UINT32_MAX);
		break;
	case STREAM_TID:
		sql_put_optional(out, s->tid, !is_gpu && s->tid != 0);
		break;
	case STREAM_DEVICE:
		sql_put_optional(out, s->device, is_gpu && s->device != UINT32_MAX);
		break;
	case STREAM_QUEUE:
		sql_put_optional(out, s->queue, is_gpu && s->queue != UINT32_MAX);
		break;
	case STREAM_NAME:
		sql_put_string(cursor, out, stream->name);
		break;
	case STREAM_BEGIN:
		sql_put_time(cursor, out, s->begin_ns);
		break;
	case STREAM_END:
		if (s->end_ns != STORE_OPEN_NS)
			sql_put_time(cursor, out, s->end_ns);
		break;
	case STREAM_LOST:
		sql_put_number(out, s->lost);
		break;
	case STREAM_DEVICE_NAME:
		sql_put_string(cursor, out, stream->device_name);
		break;
	default:
		sql_put_number(out, s->count[STORE_SAMPLES + (column - STREAM_SAMPLES)]);
	}
}

const struct sql_table sql_table_streams = {.name = "streams",
	.columns = stream_columns,
	.column_count = COUNT(stream_columns),
	.rows = 100,
	.cursor_bytes = sizeof(struct sql_cursor),
	.open = streams_open,
	.column = streams_column};

/* ---- contexts ---- */

enum {
	CONTEXT_CONTEXT,
	CONTEXT_PARENT,
	CONTEXT_DEPTH,
	CONTEXT_FUNCTION,
	CONTEXT_MODULE,
	CONTEXT_FILE,
	CONTEXT_LINE,
	CONTEXT_PATH,
	CONTEXT_LOOP
};

static const struct sql_column context_columns[] = {{"context", "INTEGER", SQL_EQUAL | SQL_KEY},
	{"parent", "INTEGER"}, {"depth", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"},
	{"file", "TEXT"}, {"line", "INTEGER"}, {"path", "TEXT"}, {"loop", "TEXT"},
	{"run", "TEXT", SQL_ARGUMENT}};

/* Row 0 is "no context", which is none. */
static int contexts_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	sqlite3_value *equal = ask->limits[CONTEXT_CONTEXT].equal;

	(void)error;
	cursor->row = 1;
	cursor->count = run_context_count(cursor->call.run);
	if (equal && sqlite3_value_numeric_type(equal) == SQLITE_INTEGER)
		keep_one(cursor, (uint64_t)sqlite3_value_int64(equal), cursor->count);
	if (cursor->row == 0)
		cursor->count = 0;
	return 0;
}

/* The same text that it is as a key of statistics. */
static void put_key(struct sql_cursor *cursor, sqlite3_context *out, uint32_t context, enum row_key_by by)
{
	cursor->text.size = 0;
	if (!row_key_put(&cursor->text, cursor->call.run, context, by, UINT32_MAX))
		sqlite3_result_error_nomem(out);
	else if (cursor->text.size)
		sqlite3_result_text64(out, (const char *)cursor->text.data, cursor->text.size,
			SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void put_context(struct sql_cursor *cursor, sqlite3_context *out, int column, uint32_t context)
{
	const struct run *run = cursor->call.run;
	const struct run_context *at = run_context(run, context);
	uint32_t parent;

	switch (column) {
	case CONTEXT_CONTEXT:
		sql_put_number(out, context);
		break;
	case CONTEXT_PARENT:
		parent = run_context_parent(run, context);
		sql_put_optional(out, parent, parent != 0);
		break;
	case CONTEXT_DEPTH:
		if (at->scope != UINT32_MAX)
			sql_put_number(out, run_scope(run, at->scope)->depth);
		break;
	case CONTEXT_FUNCTION:
		put_key(cursor, out, context, ROW_KEY_FUNCTION);
		break;
	case CONTEXT_MODULE:
		put_key(cursor, out, context, ROW_KEY_MODULE);
		break;
	case CONTEXT_FILE:
		sql_put_string(cursor, out, at->file);
		break;
	case CONTEXT_LINE:
		sql_put_optional(out, at->line, at->line != 0);
		break;
	case CONTEXT_PATH:
		sql_put_path(cursor, out, context);
		break;
	default:
		if (at->loop != RUN_LOOP_NONE)
			sql_put_string(cursor, out, run_loop(run, at->loop)->name);
	}
}

static void contexts_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	put_context(cursor, out, column, (uint32_t)cursor->row);
}

const struct sql_table sql_table_contexts = {.name = "contexts",
	.columns = context_columns,
	.column_count = COUNT(context_columns),
	.rows = 10000,
	.cursor_bytes = sizeof(struct sql_cursor),
	.open = contexts_open,
	.column = contexts_column};

/* ---- contexts_matching: those that a pattern of --context selects ---- */

struct matching {
	struct sql_cursor base;
	uint32_t *contexts; /* of malloc() */
};

static const struct sql_column matching_columns[] = {{"context", "INTEGER"}, {"parent", "INTEGER"},
	{"depth", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"}, {"file", "TEXT"}, {"line", "INTEGER"},
	{"path", "TEXT"}, {"loop", "TEXT"}, {"contexts", "TEXT", SQL_ARGUMENT}, {"begin", "", SQL_ARGUMENT},
	{"end", "", SQL_ARGUMENT}, {"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int matching_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct matching *matching = (struct matching *)cursor;
	uint32_t count = run_context_count(cursor->call.run);
	int rc = 0;

	if (!sql_ask_text(cursor, ask, "contexts"))
		return error_set(error, ERROR_USAGE,
			"contexts_matching needs a pattern: contexts_matching('main;*;@loop')");
	rc = sql_cursor_select(cursor, ask, 0, error);
	if (rc < 0)
		return rc;
	matching->contexts = calloc((size_t)count + 1, sizeof *matching->contexts);
	if (!matching->contexts)
		return error_memory(error);
	for (uint32_t context = 1; context < count; context++)
		if (select_wants_context(cursor->call.select, context))
			matching->contexts[cursor->count++] = context;
	return 0;
}

static void matching_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	put_context(cursor, out, column, ((struct matching *)cursor)->contexts[cursor->row]);
}

static void matching_close(struct sql_cursor *cursor)
{
	free(((struct matching *)cursor)->contexts);
	((struct matching *)cursor)->contexts = NULL;
}

const struct sql_table sql_table_contexts_matching = {.name = "contexts_matching",
	.columns = matching_columns,
	.column_count = COUNT(matching_columns),
	.rows = 1000,
	.cursor_bytes = sizeof(struct matching),
	.open = matching_open,
	.column = matching_column,
	.close = matching_close};

/* ---- modules: the columns of hpct-info --modules ---- */

struct module_row {
	const char *kind, *path, *lacks;
	size_t path_bytes;
	uint64_t load_ns, unload_ns;
	struct info_frames frames;
	char build_id[INFO_BUILD_ID_MAX];
};

struct modules {
	struct sql_cursor base;
	struct module_row *rows; /* of malloc(); paths are the run's */
	size_t count, capacity;
};

static const struct sql_column module_columns[] = {{"kind", "TEXT"}, {"path", "TEXT"}, {"build_id", "TEXT"},
	{"load_ns", "INTEGER"}, {"unload_ns", "INTEGER"}, {"frames", "INTEGER"}, {"named", "INTEGER"},
	{"lines", "INTEGER"}, {"in_loops", "INTEGER"}, {"lacks", "TEXT"}, {"partial", "INTEGER"},
	{"run", "TEXT", SQL_ARGUMENT}};

static bool module_add(void *own, struct store_reader *reader, const struct store_module *module,
	const struct info_frames *frames)
{
	struct modules *modules = own;
	struct module_row *row;

	if (!array_widen(&modules->rows, &modules->capacity, modules->count, sizeof *modules->rows))
		return false;
	row = &modules->rows[modules->count++];
	*row = (struct module_row){.kind = info_module_kind(module->kind),
		.lacks = info_module_lacks(module, frames),
		.load_ns = module->load_ns,
		.unload_ns = module->unload_ns,
		.frames = *frames};
	row->path = store_reader_text(reader, module->path, &row->path_bytes);
	info_build_id(row->build_id, module);
	return true;
}

static int modules_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct modules *modules = (struct modules *)cursor;
	int rc = info_modules_each(cursor->call.run, module_add, modules, error);

	(void)ask;
	cursor->count = modules->count;
	return rc;
}

static void modules_close(struct sql_cursor *cursor)
{
	struct modules *modules = (struct modules *)cursor;

	free(modules->rows);
	modules->rows = NULL;
	modules->count = modules->capacity = 0;
}

static void modules_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct module_row *row = &((struct modules *)cursor)->rows[cursor->row];
	const uint64_t numbers[] = {
		row->frames.frames, row->frames.named, row->frames.lines, row->frames.loops};

	switch (column) {
	case 0:
		sql_put_composed(out, row->kind);
		break;
	case 1:
		sql_put_field(cursor, out, row->path, row->path_bytes);
		break;
	case 2:
		sql_put_composed(out, row->build_id);
		break;
	case 3:
	case 4:
		if (column == 3 ? row->load_ns : row->unload_ns)
			sql_put_time(cursor, out, column == 3 ? row->load_ns : row->unload_ns);
		break;
	case 9:
		sql_put_composed(out, row->lacks);
		break;
	case 10:
		sql_put_number(out, row->frames.partial);
		break;
	default:
		sql_put_number(out, numbers[column - 5]);
	}
}

const struct sql_table sql_table_modules = {.name = "modules",
	.columns = module_columns,
	.column_count = COUNT(module_columns),
	.rows = 100,
	.cursor_bytes = sizeof(struct modules),
	.open = modules_open,
	.column = modules_column,
	.close = modules_close};

/* ---- metrics: the columns of hpct-info --metrics ---- */

struct metrics {
	struct sql_cursor base;
	struct info_metric *rows;
	size_t count, capacity;
};

static const struct sql_column metric_columns[] = {{"metric", "TEXT"}, {"unit", "TEXT"}, {"source", "TEXT"},
	{"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static bool metric_add(void *own, const struct info_metric *metric)
{
	struct metrics *metrics = own;

	if (!array_widen(&metrics->rows, &metrics->capacity, metrics->count, sizeof *metrics->rows))
		return false;
	metrics->rows[metrics->count++] = *metric;
	return true;
}

static int metrics_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct metrics *metrics = (struct metrics *)cursor;
	int rc = sql_cursor_select(cursor, ask, 0, error);

	if (rc == 0)
		rc = info_metrics_each(cursor->call.run, cursor->call.select, metric_add, metrics, error);
	cursor->count = metrics->count;
	return rc;
}

static void metrics_close(struct sql_cursor *cursor)
{
	struct metrics *metrics = (struct metrics *)cursor;

	free(metrics->rows);
	metrics->rows = NULL;
	metrics->count = metrics->capacity = 0;
}

static void metrics_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct info_metric *row = &((struct metrics *)cursor)->rows[cursor->row];

	sql_put_string(cursor, out, column == 0 ? row->name : column == 1 ? row->unit : row->source);
}

const struct sql_table sql_table_metrics = {.name = "metrics",
	.columns = metric_columns,
	.column_count = COUNT(metric_columns),
	.rows = 20,
	.cursor_bytes = sizeof(struct metrics),
	.open = metrics_open,
	.column = metrics_column,
	.close = metrics_close};

/* ---- marks ---- */

struct marks {
	struct sql_cursor base;
	const struct mark *marks, *instances;
};

static const struct sql_column mark_columns[] = {{"name", "TEXT"}, {"begin_ns", "INTEGER"},
	{"end_ns", "INTEGER"}, {"stream", "TEXT"}, {"until_ns", "INTEGER"}, {"run", "TEXT", SQL_ARGUMENT}};

/* Both lists have the same order. */
static int marks_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct marks *marks = (struct marks *)cursor;
	struct program_call *call = &cursor->call;
	int rc = mark_list(call->run, &call->arena, &marks->marks, &cursor->count, error);

	(void)ask;
	if (rc == 0)
		rc = mark_instances(call->run, run_end_ns(call->run), &call->arena, &marks->instances,
			&cursor->count, error);
	return rc;
}

static void marks_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct marks *marks = (struct marks *)cursor;
	const struct mark *mark = &marks->marks[cursor->row];

	switch (column) {
	case 0:
		sql_put_string(cursor, out, mark->name);
		break;
	case 1:
		sql_put_time(cursor, out, mark->begin_ns);
		break;
	case 2:
		sql_put_time(cursor, out, mark->end_ns);
		break;
	case 3:
		if (mark->stream != UINT32_MAX)
			sql_put_string(cursor, out, run_stream(cursor->call.run, mark->stream)->text);
		break;
	default:
		sql_put_time(cursor, out, marks->instances[cursor->row].end_ns);
	}
}

const struct sql_table sql_table_marks = {.name = "marks",
	.columns = mark_columns,
	.column_count = COUNT(mark_columns),
	.rows = 1000,
	.cursor_bytes = sizeof(struct marks),
	.open = marks_open,
	.column = marks_column};
