/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_blame.c - who is to blame, as hpct-blame answers: the shares of --of, the gaps of --gaps, those who
 * came last of --late.
 */
#include <string.h>

#include "blame/idle/gaps.h"
#include "blame/page/answer.h"
#include "formats/sql/tables.h"
#include "timeline/report/coverage.h"

SQLITE_EXTENSION_INIT3

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The question of hpct-blame with these options: ready to be answered. */
static int ask_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct ask *question,
	enum row_key_by *by, struct error *error)
{
	int rc = sql_cursor_select(cursor, ask, 0, error);

	if (rc == 0)
		rc = option_check(question, cursor->call.select, error);
	if (rc == 0)
		rc = answer_find_by(&cursor->call, by, error);
	if (rc == 0)
		rc = wait_functions_new(&question->waits, cursor->call.run, NULL, error);
	return rc;
}

/* Of a window in which nothing at all is known every reader says the same. */
static int ask_close(struct sql_cursor *cursor, struct ask *question, int rc, struct error *error)
{
	wait_functions_free(question->waits);
	question->waits = NULL;
	if (rc == -ERROR_EMPTY && cursor->call.select)
		coverage_require(cursor->call.run, cursor->call.select, error);
	return rc;
}

/* ---- blame ---- */

struct blame_cursor {
	struct sql_cursor base;
	struct exact_share_rows rows;
	struct answer_bucket bucket;
};

static const struct sql_column blame_columns[] = {{"key", "TEXT"}, {"blame_ns", "INTEGER"},
	{"percent", "REAL"}, {"context", "INTEGER"}, {"of", "TEXT", SQL_ARGUMENT},
	{"by", "TEXT", SQL_ARGUMENT}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT},
	{"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

/* The parts without a cause are the last rows. */
static void count_rows(struct blame_cursor *blame)
{
	blame->base.count = blame->rows.count + (blame->bucket.others_ns != 0) + (blame->bucket.time_ns != 0);
}

static int blame_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct blame_cursor *blame = (struct blame_cursor *)cursor;
	const char *of = sql_ask_text(cursor, ask, "of");
	struct ask question = {.shape = ASK_ROWS, .has_of = of};
	struct answer_shares shares = {0};
	int found = of ? answer_of_find(of) : ASK_GPU_IDLE, rc;
	enum row_key_by by;

	if (found < 0)
		return error_set(error, ERROR_USAGE, "blame of '%s': say " ANSWER_OF_WORDS, of);
	if (found >= ASK_LOCK)
		return error_set(
			error, ERROR_USAGE, "blame of '%s' is no table yet: hpct-blame --of %s", of, of);
	question.of = (enum ask_of)found;
	rc = ask_open(cursor, ask, &question, &by, error);
	if (rc == 0)
		rc = select_require_sums(cursor->call.select, error);
	if (rc == 0)
		rc = answer_shares_find(&shares, &cursor->call, &question, error);
	if (rc == 0)
		rc = answer_rows_make(&blame->rows, &cursor->call, &shares, error);
	blame->bucket = shares.bucket;
	if (rc == 0)
		count_rows(blame);
	return ask_close(cursor, &question, rc, error);
}

static void blame_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct blame_cursor *blame = (struct blame_cursor *)cursor;
	bool is_row = cursor->row < blame->rows.count;
	bool is_others = cursor->row == blame->rows.count && blame->bucket.others_ns;
	struct exact_share_row row =
		is_row	    ? blame->rows.rows[cursor->row]
		: is_others ? (struct exact_share_row){ANSWER_OTHERS, blame->bucket.others_ns, 0}
			    : (struct exact_share_row){blame->bucket.key, blame->bucket.time_ns, 0};

	switch (column) {
	case 0:
		sqlite3_result_text(out, row.key, -1, SQLITE_TRANSIENT);
		break;
	case 1:
		sql_put_number(out, row.time_ns);
		break;
	case 2:
		sqlite3_result_double(out, answer_percent(row.time_ns, blame->bucket.whole_ns));
		break;
	default:
		sql_put_optional(out, row.context, row.context != 0);
	}
}

const struct sql_table sql_table_blame = {.name = "blame",
	.columns = blame_columns,
	.column_count = COUNT(blame_columns),
	.rows = 1000,
	.cursor_bytes = sizeof(struct blame_cursor),
	.open = blame_open,
	.column = blame_column};

/* ---- gaps ---- */

enum { GAP_BEGIN, GAP_END, GAP_LENGTH, GAP_STREAM, GAP_CAUSE, GAP_KEY, GAP_PATH, GAP_CONTEXT };

struct gaps_cursor {
	struct sql_cursor base;
	struct gaps *gaps;
	const struct gap **list; /* that the selector wants; in the cursor's arena */
	enum row_key_by by;
};

static const struct sql_column gap_columns[] = {{"begin_ns", "INTEGER"}, {"end_ns", "INTEGER"},
	{"gap_ns", "INTEGER"}, {"stream", "TEXT"}, {"cause", "TEXT"}, {"key", "TEXT"}, {"path", "TEXT"},
	{"context", "INTEGER"}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"min", "", SQL_ARGUMENT}, {"by", "TEXT", SQL_ARGUMENT}, {"streams", "TEXT", SQL_ARGUMENT},
	{"contexts", "TEXT", SQL_ARGUMENT}, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int keep_wanted(struct gaps_cursor *cursor, struct error *error)
{
	struct program_call *call = &cursor->base.call;
	size_t count;
	const struct gap *list = gaps_list(cursor->gaps, &count);

	cursor->list = arena_calloc(&call->arena, count + 1, sizeof *cursor->list);
	if (!cursor->list)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (select_wants_context(call->select, list[i].context))
			cursor->list[cursor->base.count++] = &list[i];
	return 0;
}

static int gaps_open(struct sql_cursor *base, const struct sql_ask *ask, struct error *error)
{
	struct gaps_cursor *cursor = (struct gaps_cursor *)base;
	struct ask question = {.shape = ASK_GAPS};
	struct idle_question idle_question;
	struct idle idle;
	int rc = ask_open(base, ask, &question, &cursor->by, error);

	if (rc == 0)
		rc = gaps_new(&cursor->gaps, select_min_ns(base->call.select), SIZE_MAX, error);
	if (rc == 0) {
		idle_question = answer_idle_question(&base->call, &question);
		idle_question.is_brief = true;
		idle_question.gaps = cursor->gaps;
		rc = idle_sweep(&idle, base->call.run, &idle_question, &base->call.arena, error);
	}
	if (rc == 0)
		rc = keep_wanted(cursor, error);
	return ask_close(base, &question, rc, error);
}

static void gaps_close(struct sql_cursor *base)
{
	struct gaps_cursor *cursor = (struct gaps_cursor *)base;

	gaps_free(cursor->gaps);
	cursor->gaps = NULL;
}

static void put_gap_key(struct gaps_cursor *cursor, sqlite3_context *out, uint32_t context)
{
	struct store_bytes *text = &cursor->base.text;
	struct error error;

	if (answer_gap_key(&cursor->base.call, context, cursor->by, text, &error))
		sqlite3_result_error_nomem(out);
	else
		sql_put_composed(out, (const char *)text->data);
}

static void gaps_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct gap *gap = ((struct gaps_cursor *)cursor)->list[cursor->row];

	switch (column) {
	case GAP_BEGIN:
		sql_put_time(cursor, out, gap->begin_ns);
		break;
	case GAP_END:
		sql_put_time(cursor, out, gap->end_ns);
		break;
	case GAP_LENGTH:
		sql_put_number(out, gap->end_ns - gap->begin_ns);
		break;
	case GAP_STREAM:
		sql_put_lasting(out, sql_run_stream_text(cursor->run, gap->stream));
		break;
	case GAP_CAUSE:
		sql_put_composed(out, gap_cause_name(gap->cause));
		break;
	case GAP_KEY:
		put_gap_key((struct gaps_cursor *)cursor, out, gap->context);
		break;
	case GAP_PATH:
		sql_put_path(cursor, out, gap->context);
		break;
	default:
		sql_put_optional(out, gap->context, gap->context != 0);
	}
}

const struct sql_table sql_table_gaps = {.name = "gaps",
	.columns = gap_columns,
	.column_count = COUNT(gap_columns),
	.rows = 10000,
	.cursor_bytes = sizeof(struct gaps_cursor),
	.open = gaps_open,
	.column = gaps_column,
	.close = gaps_close};

/* ---- late ---- */

struct late_cursor {
	struct sql_cursor base;
	struct answer_late_rows rows;
};

static const struct sql_column late_columns[] = {{"key", "TEXT"}, {"blame_ns", "INTEGER"},
	{"percent", "REAL"}, {"last", "INTEGER"}, {"occasions", "INTEGER"}, {"waited_ns", "INTEGER"},
	{"path", "TEXT"}, {"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int late_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct late_cursor *late = (struct late_cursor *)cursor;
	struct ask question = {.shape = ASK_LATE};
	enum row_key_by by;
	int rc = ask_open(cursor, ask, &question, &by, error);

	if (rc == 0)
		rc = answer_late_rows(&late->rows, &cursor->call, &question, error);
	cursor->count = rc < 0 ? 0 : late->rows.count;
	return ask_close(cursor, &question, rc, error);
}

static void late_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct answer_late_row *row = &((struct late_cursor *)cursor)->rows.rows[cursor->row];

	switch (column) {
	case 0:
		sql_put_string(cursor, out, row->key);
		break;
	case 1:
		sql_put_number(out, row->blame_ns);
		break;
	case 2:
		sqlite3_result_double(out, answer_percent(row->blame_ns, row->whole_ns));
		break;
	case 3:
		sql_put_number(out, row->last);
		break;
	case 4:
		sql_put_number(out, row->occasions);
		break;
	case 5:
		sql_put_number(out, row->waited_ns);
		break;
	default:
		sql_put_composed(out, row->path);
	}
}

const struct sql_table sql_table_late = {.name = "late",
	.columns = late_columns,
	.column_count = COUNT(late_columns),
	.rows = 100,
	.cursor_bytes = sizeof(struct late_cursor),
	.open = late_open,
	.column = late_column};
