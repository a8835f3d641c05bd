/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_sql.c - hpct_sql(): the rows of a statement as columns. A column of SQL has no type: it gets the
 * narrowest that all its values are, whole numbers, numbers, texts.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/library/read.h"
#include "formats/sql/connection.h"
#include "store/base/array.h"
#include "timeline/slice/slice.h"

#define STEPS_BETWEEN 20000 /* of SQLite's machine, between looks at an interruption */

/* A value until all are known; texts lie one behind another in `texts`. */
struct cell {
	int type; /* of SQLite */
	union {
		sqlite3_int64 whole;
		double real;
		size_t at;
	};
	size_t size;
};

struct answer {
	sqlite3_stmt *statement;
	size_t columns, count, capacity; /* of cells */
	struct cell *cells;
	struct store_bytes texts;
	struct arena arena;
};

/* ---- taking rows ---- */

static void put_hex(struct store_bytes *out, const uint8_t *bytes, int size)
{
	char text[3];

	for (int i = 0; i < size; i++) {
		snprintf(text, sizeof text, "%02x", bytes[i]);
		store_bytes_put(out, text, 2);
	}
}

static struct cell take_cell(struct answer *answer, int column)
{
	struct cell cell = {.type = sqlite3_column_type(answer->statement, column)};
	int size;

	if (cell.type == SQLITE_INTEGER) {
		cell.whole = sqlite3_column_int64(answer->statement, column);
	} else if (cell.type == SQLITE_FLOAT) {
		cell.real = sqlite3_column_double(answer->statement, column);
	} else if (cell.type != SQLITE_NULL) {
		const void *bytes = cell.type == SQLITE_BLOB
					    ? sqlite3_column_blob(answer->statement, column)
					    : (const void *)sqlite3_column_text(answer->statement, column);

		size = sqlite3_column_bytes(answer->statement, column);
		cell.at = answer->texts.size;
		if (cell.type == SQLITE_BLOB)
			put_hex(&answer->texts, bytes, size);
		else
			store_bytes_put(&answer->texts, bytes, (size_t)size);
		cell.size = answer->texts.size - cell.at;
		cell.type = SQLITE_TEXT;
	}
	return cell;
}

/* The code of the last step; SQLITE_NOMEM. */
static int take_rows(struct answer *answer)
{
	int rc;

	while ((rc = sqlite3_step(answer->statement)) == SQLITE_ROW) {
		if (!array_reserve(&answer->cells, &answer->capacity, answer->count + answer->columns,
			    sizeof *answer->cells))
			return SQLITE_NOMEM;
		for (size_t i = 0; i < answer->columns; i++)
			answer->cells[answer->count++] = take_cell(answer, (int)i);
		if (answer->texts.failed)
			return SQLITE_NOMEM;
	}
	return rc;
}

/* ---- columns ---- */

static enum hpct_type type_of(const struct answer *answer, size_t column)
{
	enum hpct_type type = HPCT_INT64;

	for (size_t i = column; i < answer->count; i += answer->columns) {
		if (answer->cells[i].type == SQLITE_TEXT)
			return HPCT_TEXT;
		if (answer->cells[i].type == SQLITE_FLOAT)
			type = HPCT_REAL;
	}
	return type;
}

static void put_text(struct column *column, const struct answer *answer, const struct cell *cell)
{
	char text[SLICE_VALUE_MAX];
	uint64_t bits;

	if (cell->type == SQLITE_TEXT) {
		column_put_composed(column, (const char *)answer->texts.data + cell->at, cell->size);
		return;
	}
	if (cell->type == SQLITE_INTEGER) {
		snprintf(text, sizeof text, "%lld", (long long)cell->whole);
	} else {
		memcpy(&bits, &cell->real, sizeof bits);
		slice_value_text(text, bits, true);
	}
	column_put_composed(column, text, strlen(text));
}

static void put_cell(struct column *column, const struct answer *answer, const struct cell *cell)
{
	if (cell->type == SQLITE_NULL)
		column_put_none(column);
	else if (column->type == HPCT_TEXT)
		put_text(column, answer, cell);
	else if (column->type == HPCT_REAL)
		column_put_real(column, cell->type == SQLITE_FLOAT ? cell->real : (double)cell->whole);
	else
		column_put_number(column, (uint64_t)cell->whole);
}

static int make_columns(struct answer *answer, struct hpct_batch **given, struct error *error)
{
	struct column_spec *specs = arena_calloc(&answer->arena, answer->columns + 1, sizeof *specs);
	struct hpct_batch *batch;
	int rc;

	for (size_t i = 0; specs && i < answer->columns; i++) {
		const char *name = sqlite3_column_name(answer->statement, (int)i);

		specs[i] = (struct column_spec){name ? name : "", type_of(answer, i)};
	}
	rc = specs ? columns_new(&batch, specs, answer->columns, NULL, false, error) : error_memory(error);
	if (rc < 0)
		return rc;
	for (size_t column = 0; column < answer->columns; column++)
		for (size_t i = column; i < answer->count; i += answer->columns)
			put_cell(&batch->columns[column], answer, &answer->cells[i]);
	return question_batch_end(given, NULL, batch, 0, error);
}

static void answer_fini(struct answer *answer)
{
	sqlite3_finalize(answer->statement);
	free(answer->cells);
	store_bytes_fini(&answer->texts);
	arena_fini(&answer->arena);
}

/* ---- the question ---- */

static int is_stopped(void *run)
{
	return read_is_interrupted(run);
}

/* Of several statements the last one's rows. */
static int ask(sqlite3 *db, struct sql_session *session, const char *query, struct hpct_batch **batch,
	struct error *error)
{
	int rc = 0;

	while (rc == 0 && *query) {
		struct answer answer = {0};
		int code = SQLITE_DONE;

		rc = sql_connection_prepare(db, session, &query, &answer.statement, error);
		if (rc == 0 && answer.statement) {
			answer.columns = (size_t)sqlite3_column_count(answer.statement);
			code = take_rows(&answer);
		}
		if (rc == 0 && code != SQLITE_DONE)
			rc = sql_connection_failed(db, session, code, error);
		if (rc == 0 && answer.statement) {
			columns_drop(*batch);
			*batch = NULL;
			rc = make_columns(&answer, batch, error);
		}
		answer_fini(&answer);
	}
	return rc == 0 && !*batch ? error_set(error, ERROR_USAGE, "the query is empty") : rc;
}

static int open_session(struct sql_session **session, struct hpct_run *run, struct error *error)
{
	int rc;

	*session = sql_session_new(NULL);
	if (!*session)
		return error_memory(error);
	(*session)->options.jobs = 1;
	rc = sql_session_lend(*session, run->run, error);
	if (rc < 0)
		sql_session_free(*session);
	return rc;
}

static int answer_query(
	struct hpct_run *run, const char *query, struct hpct_batch **batch, struct error *error)
{
	struct sql_session *session;
	sqlite3 *db;
	int rc = open_session(&session, run, error);

	if (rc == 0)
		rc = sql_connection_open(&db, session, error);
	if (rc < 0)
		return rc;
	if (run->has_interrupt)
		sqlite3_progress_handler(db, STEPS_BETWEEN, is_stopped, run);
	rc = ask(db, session, query, batch, error);
	if (rc < 0) {
		columns_drop(*batch);
		*batch = NULL;
	}
	sqlite3_close(db);
	return rc;
}

int hpct_sql(struct hpct_run *run, const char *query, struct hpct_rows **rows, struct hpct_error *error)
{
	struct error *why = (struct error *)error;
	struct hpct_batch *batch = NULL;
	int rc;

	read_enter(run);
	rc = answer_query(run, query, &batch, why);
	if (rc == 0)
		rc = read_rows_of(rows, run, batch, why);
	return read_leave(rc, why);
}
