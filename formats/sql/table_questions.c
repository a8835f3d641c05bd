/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_questions.c - the tables whose rows libhpct's questions answer in one batch: what a run is made of,
 * sums of windows, blame. Their arguments are the selector's options; columns that no statement reads are not
 * made.
 *
 *   arguments -> struct question -> batch -> rows
 */
#include <string.h>

#include "formats/library/answer_formulas.h"
#include "formats/library/question.h"
#include "formats/sql/tables.h"
#include "store/base/hash.h"

SQLITE_EXTENSION_INIT3

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct answer_cursor {
	struct sql_cursor base;
	struct hpct_batch *batch;
	size_t first; /* the row that is the batch's first: rows are who they are wherever one of them is
			 asked for */
};

/* ---- opening ---- */

/* The row that = of a key asks for, among `count`, alone. */
static void keep_one(struct question *question, uint64_t row, uint64_t count)
{
	question->first = row < count ? (uint32_t)row : (uint32_t)count;
	question->last = row < count ? (uint32_t)row + 1 : (uint32_t)count;
}

static int ask(struct sql_cursor *cursor, const struct question_kind *kind, struct question *question,
	struct error *error)
{
	struct answer_cursor *own = (struct answer_cursor *)cursor;
	int rc;

	question->call = &cursor->call;
	question->is_raw = true;
	own->first = question->first;
	rc = kind->ask(&own->batch, question, error);
	cursor->row = own->first;
	cursor->count = rc < 0 ? cursor->row : own->first + own->batch->row_count;
	return rc;
}

/* Of a column at least, so that rows can be counted; of formulas all, since one may name another. NULL: no
 * memory. */
static const bool *wanted_of(struct sql_cursor *cursor, const struct sql_ask *asked, size_t count)
{
	size_t formulas = answer_formulas_count(cursor->call.select);
	bool *wanted = arena_calloc(&cursor->call.arena, count + formulas, sizeof *wanted);

	for (size_t i = 0; wanted && i < count + formulas; i++)
		wanted[i] = i == 0 || i >= count || asked->used >> i & 1;
	return wanted;
}

static int open_selected(struct sql_cursor *cursor, const struct sql_ask *asked,
	const struct question_kind *kind, const char *word, struct error *error)
{
	struct question question = {.word = word ? sql_ask_text(cursor, asked, word) : NULL};
	int rc = sql_cursor_select(cursor, asked, kind->uses, error);

	if (rc == 0 && kind->specs) {
		question.wanted = wanted_of(cursor, asked, kind->count);
		rc = question.wanted ? 0 : error_memory(error);
	}
	return rc < 0 ? rc : ask(cursor, kind, &question, error);
}

static int open_plain(struct sql_cursor *cursor, const struct sql_ask *asked,
	const struct question_kind *kind, struct question *question, struct error *error)
{
	question->wanted = wanted_of(cursor, asked, kind->count);
	return question->wanted ? ask(cursor, kind, question, error) : error_memory(error);
}

static void answer_close(struct sql_cursor *cursor)
{
	struct answer_cursor *own = (struct answer_cursor *)cursor;

	columns_drop(own->batch);
	own->batch = NULL;
}

/* ---- values ---- */

static void put_value(sqlite3_context *out, const struct column *column, size_t row)
{
	const char *text;
	size_t size;

	if (!column->is_wanted || !column_has(column, row))
		return;
	switch (column->type) {
	case HPCT_TEXT:
		text = column_text(column, row, &size);
		sqlite3_result_text64(out, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case HPCT_REAL:
		sqlite3_result_double(out, column_real(column, row));
		break;
	default:
		sql_put_number(out, column_number(column, row));
	}
}

static void answer_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct answer_cursor *own = (const struct answer_cursor *)cursor;
	size_t at = (size_t)column;

	if (cursor->table->columns[column].use & SQL_FORMULA) {
		if (!answer_formulas_count(cursor->call.select))
			return;
		at = own->batch->column_count - 1;
	}
	put_value(out, &own->batch->columns[at], cursor->row - own->first);
}

#define ANSWER(table_name, about, open_function)                              \
	const struct sql_table sql_table_##table_name = {.name = #table_name, \
		.columns = table_name##_columns,                              \
		.column_count = COUNT(table_name##_columns),                  \
		.rows = about,                                                \
		.cursor_bytes = sizeof(struct answer_cursor),                 \
		.open = open_function,                                        \
		.column = answer_column,                                      \
		.close = answer_close}

/* ---- what a run is made of ---- */

static const struct sql_column streams_columns[] = {{"stream", "TEXT", SQL_EQUAL | SQL_KEY}, {"kind", "TEXT"},
	{"host", "TEXT"}, {"rank", "INTEGER"}, {"pid", "INTEGER"}, {"tid", "INTEGER"}, {"device", "INTEGER"},
	{"queue", "INTEGER"}, {"name", "TEXT"}, {"begin_ns", "INTEGER"}, {"end_ns", "INTEGER"},
	{"samples", "INTEGER"}, {"spans", "INTEGER"}, {"values", "INTEGER"}, {"lost", "INTEGER"},
	{"device_name", "TEXT"}, {"run", "TEXT", SQL_ARGUMENT}};

static int streams_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	const char *stream = sql_ask_text(cursor, asked, "stream");
	struct question question = {0};

	if (stream)
		keep_one(&question, sql_run_stream(cursor->run, stream), run_stream_count(cursor->call.run));
	return open_plain(cursor, asked, &question_streams, &question, error);
}
ANSWER(streams, 100, streams_open);

static const struct sql_column contexts_columns[] = {{"context", "INTEGER", SQL_EQUAL | SQL_KEY},
	{"parent", "INTEGER"}, {"depth", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"},
	{"file", "TEXT"}, {"line", "INTEGER"}, {"path", "TEXT"}, {"loop", "TEXT"},
	{"run", "TEXT", SQL_ARGUMENT}};

/* Context 0 is "no context", which is none. */
static int contexts_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	sqlite3_value *equal = asked->limits[0].equal;
	uint64_t count = run_context_count(cursor->call.run);
	struct question question = {.first = 1};

	if (equal && sqlite3_value_numeric_type(equal) == SQLITE_INTEGER) {
		sqlite3_int64 number = sqlite3_value_int64(equal);

		keep_one(&question, number > 0 ? (uint64_t)number : count, count);
	}
	return open_plain(cursor, asked, &question_contexts, &question, error);
}
ANSWER(contexts, 10000, contexts_open);

static const struct sql_column contexts_matching_columns[] = {{"context", "INTEGER"}, {"parent", "INTEGER"},
	{"depth", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"}, {"file", "TEXT"}, {"line", "INTEGER"},
	{"path", "TEXT"}, {"loop", "TEXT"}, {"contexts", "TEXT", SQL_ARGUMENT}, {"begin", "", SQL_ARGUMENT},
	{"end", "", SQL_ARGUMENT}, {"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int contexts_matching_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	if (!sql_ask_text(cursor, asked, "contexts"))
		return error_set(error, ERROR_USAGE,
			"contexts_matching needs a pattern: contexts_matching('main;*;@loop')");
	return open_selected(cursor, asked, &question_contexts, NULL, error);
}
ANSWER(contexts_matching, 1000, contexts_matching_open);

static const struct sql_column modules_columns[] = {{"kind", "TEXT"}, {"path", "TEXT"}, {"build_id", "TEXT"},
	{"load_ns", "INTEGER"}, {"unload_ns", "INTEGER"}, {"frames", "INTEGER"}, {"named", "INTEGER"},
	{"lines", "INTEGER"}, {"in_loops", "INTEGER"}, {"lacks", "TEXT"}, {"partial", "INTEGER"},
	{"run", "TEXT", SQL_ARGUMENT}};

static int modules_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_plain(cursor, asked, &question_modules, &(struct question){0}, error);
}
ANSWER(modules, 100, modules_open);

static const struct sql_column metrics_columns[] = {{"metric", "TEXT"}, {"unit", "TEXT"}, {"source", "TEXT"},
	{"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int metrics_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_selected(cursor, asked, &question_metrics, NULL, error);
}
ANSWER(metrics, 20, metrics_open);

static const struct sql_column marks_columns[] = {{"name", "TEXT"}, {"begin_ns", "INTEGER"},
	{"end_ns", "INTEGER"}, {"stream", "TEXT"}, {"until_ns", "INTEGER"}, {"run", "TEXT", SQL_ARGUMENT}};

static int marks_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_plain(cursor, asked, &question_marks, &(struct question){0}, error);
}
ANSWER(marks, 1000, marks_open);

/* ---- sums: the columns of hpct-stats ---- */

static const struct sql_column stats_columns[] = {{"key", "TEXT"}, {"time_ns", "INTEGER"},
	{"percent", "REAL"}, {"records", "INTEGER"}, {"state", "TEXT"}, {"context", "INTEGER"},
	{"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT}, {"by", "TEXT", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT}, {"ops", "TEXT", SQL_ARGUMENT},
	SQL_METRICS_COLUMN, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT},
	SQL_FORMULA_COLUMN};

static int stats_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_selected(cursor, asked, &question_stats, NULL, error);
}
ANSWER(stats, 1000, stats_open);

/* ---- profile: a row for each node and metric or formula, of a batch with columns for each ---- */

enum { PROFILE_METRIC = QUESTION_PROFILE_FIXED, PROFILE_INCLUSIVE, PROFILE_EXCLUSIVE };

static const struct sql_column profile_columns[] = {{"depth", "INTEGER"}, {"id", "INTEGER"},
	{"parent", "INTEGER"}, {"kind", "TEXT"}, {"name", "TEXT"}, {"module", "TEXT"}, {"file", "TEXT"},
	{"line", "INTEGER"}, {"metric", "TEXT", SQL_EQUAL}, {"inclusive", ""}, {"exclusive", ""},
	{"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT}, {"view", "TEXT", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT},
	{"metrics", "TEXT", SQL_ARGUMENT}, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

/* Metrics, two columns each, then formulas, one each. */
static size_t metric_count(const struct sql_cursor *cursor)
{
	const struct answer_cursor *own = (const struct answer_cursor *)cursor;

	return (own->batch->column_count - QUESTION_PROFILE_FIXED -
		       answer_formulas_count(cursor->call.select)) /
	       2;
}

static size_t rows_per_node(const struct sql_cursor *cursor)
{
	return metric_count(cursor) + answer_formulas_count(cursor->call.select);
}

static int profile_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	int rc = open_selected(cursor, asked, &question_profile, "view", error);

	cursor->count = rc < 0 ? 0 : cursor->count * rows_per_node(cursor);
	return rc;
}

/* The batch's column of the row's metric or formula; *is_formula: it has no exclusive one behind it. */
static size_t amount_of(const struct sql_cursor *cursor, bool *is_formula)
{
	size_t metrics = metric_count(cursor), m = cursor->row % rows_per_node(cursor);

	*is_formula = m >= metrics;
	return QUESTION_PROFILE_FIXED + (*is_formula ? m + metrics : 2 * m);
}

/* "CPUTIME" of "CPUTIME:incl". */
static const char *metric_of(const struct sql_cursor *cursor, size_t *size)
{
	const struct answer_cursor *own = (const struct answer_cursor *)cursor;
	bool is_formula;
	const char *name = own->batch->columns[amount_of(cursor, &is_formula)].shown.name;

	*size = strlen(name) - (is_formula ? 0 : strlen(":incl"));
	return name;
}

static void profile_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct answer_cursor *own = (const struct answer_cursor *)cursor;
	bool is_formula;
	size_t at = amount_of(cursor, &is_formula), size;
	const char *name;

	if (column == PROFILE_METRIC) {
		name = metric_of(cursor, &size);
		sql_put_field(cursor, out, name, size);
		return;
	}
	if (column == PROFILE_EXCLUSIVE && is_formula)
		return;
	if (column < PROFILE_METRIC)
		at = (size_t)column;
	else if (column == PROFILE_EXCLUSIVE)
		at++;
	put_value(out, &own->batch->columns[at], cursor->row / rows_per_node(cursor));
}

/* The same metric may be one of more on the other side of an OR. */
static bool profile_identity(struct sql_cursor *cursor, uint64_t *identity)
{
	size_t size;
	const char *name = metric_of(cursor, &size);

	*identity = store_hash64(name, size, cursor->row / rows_per_node(cursor));
	return true;
}

const struct sql_table sql_table_profile = {.name = "profile",
	.columns = profile_columns,
	.column_count = COUNT(profile_columns),
	.rows = 10000,
	.cursor_bytes = sizeof(struct answer_cursor),
	.open = profile_open,
	.column = profile_column,
	.identity = profile_identity,
	.close = answer_close};

/* ---- who is to blame ---- */

static const struct sql_column blame_columns[] = {{"key", "TEXT"}, {"blame_ns", "INTEGER"},
	{"percent", "REAL"}, {"context", "INTEGER"}, {"of", "TEXT", SQL_ARGUMENT},
	{"by", "TEXT", SQL_ARGUMENT}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT},
	{"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}, SQL_METRICS_COLUMN,
	SQL_FORMULA_COLUMN};

static int blame_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_selected(cursor, asked, &question_blame, "of", error);
}
ANSWER(blame, 1000, blame_open);

static const struct sql_column gaps_columns[] = {{"begin_ns", "INTEGER"}, {"end_ns", "INTEGER"},
	{"gap_ns", "INTEGER"}, {"stream", "TEXT"}, {"cause", "TEXT"}, {"key", "TEXT"}, {"path", "TEXT"},
	{"context", "INTEGER"}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"min", "", SQL_ARGUMENT}, {"by", "TEXT", SQL_ARGUMENT}, {"streams", "TEXT", SQL_ARGUMENT},
	{"contexts", "TEXT", SQL_ARGUMENT}, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT},
	SQL_METRICS_COLUMN, SQL_FORMULA_COLUMN};

static int gaps_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_selected(cursor, asked, &question_gaps, NULL, error);
}
ANSWER(gaps, 10000, gaps_open);

static const struct sql_column late_columns[] = {{"key", "TEXT"}, {"blame_ns", "INTEGER"},
	{"percent", "REAL"}, {"last", "INTEGER"}, {"occasions", "INTEGER"}, {"waited_ns", "INTEGER"},
	{"path", "TEXT"}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}, SQL_METRICS_COLUMN,
	SQL_FORMULA_COLUMN};

static int late_open(struct sql_cursor *cursor, const struct sql_ask *asked, struct error *error)
{
	return open_selected(cursor, asked, &question_late, NULL, error);
}
ANSWER(late, 100, late_open);
