/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - see functions.h. */
#include "formats/sql/functions.h"

#include <math.h>
#include <stdlib.h>

#include "store/base/array.h"

SQLITE_EXTENSION_INIT3

/* ---- the run ---- */

static void open_run(sqlite3_context *out, int count, sqlite3_value **values)
{
	struct sql_session *session = sqlite3_user_data(out);
	struct error error = {0};

	(void)count;
	if (session->cursors > 0) {
		sqlite3_result_error(out, "hpct_open() must stand alone: SELECT hpct_open('RUN')", -1);
		return;
	}
	if (sql_session_choose(session, (const char *)sqlite3_value_text(values[0]), &error) < 0) {
		session->error = error;
		sqlite3_result_error(out, error.text, -1);
		return;
	}
	sqlite3_result_text(out, run_path(session->chosen->run), -1, SQLITE_TRANSIENT);
}

static void schema(sqlite3_context *out, int count, sqlite3_value **values)
{
	(void)count, (void)values;
	sqlite3_result_int(out, SQL_SCHEMA_VERSION);
}

/* ---- percentile ---- */

struct sorted_value {
	sqlite3_int64 whole;
	double real; /* for the order; of a whole one beyond 2^53 `whole` decides */
	bool is_whole;
};

struct percentile {
	struct sorted_value *values;
	size_t count, capacity;
	double part;
};

static void percentile_step(sqlite3_context *out, int count, sqlite3_value **values)
{
	struct percentile *own = sqlite3_aggregate_context(out, sizeof *own);
	int type = sqlite3_value_numeric_type(values[0]);

	(void)count;
	if (!own || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	own->part = sqlite3_value_double(values[1]);
	if (!(own->part >= 0 && own->part <= 100)) {
		sqlite3_result_error(out, "percentile(x, p): p is a number from 0 to 100", -1);
		return;
	}
	if (!array_widen(&own->values, &own->capacity, own->count, sizeof *own->values)) {
		sqlite3_result_error_nomem(out);
		return;
	}
	own->values[own->count++] = (struct sorted_value){
		sqlite3_value_int64(values[0]), sqlite3_value_double(values[0]), type == SQLITE_INTEGER};
}

static int compare_values(const void *left, const void *right)
{
	const struct sorted_value *a = left, *b = right;

	if (a->is_whole && b->is_whole)
		return (a->whole > b->whole) - (a->whole < b->whole);
	return (a->real > b->real) - (a->real < b->real);
}

static void percentile_end(sqlite3_context *out)
{
	struct percentile *own = sqlite3_aggregate_context(out, 0);
	double rank;
	size_t at;

	if (!own || !own->count) {
		sqlite3_result_null(out);
		return;
	}
	qsort(own->values, own->count, sizeof *own->values, compare_values);
	rank = ceil(own->part * (double)own->count / 100); /* 7 % of 100 are 7: 0.07 * 100 is more */
	at = rank < 1 ? 0 : (size_t)rank - 1;
	at = at < own->count ? at : own->count - 1;
	if (own->values[at].is_whole)
		sqlite3_result_int64(out, own->values[at].whole);
	else
		sqlite3_result_double(out, own->values[at].real);
	free(own->values);
	own->values = NULL;
	own->count = 0;
}

/* ---- standard deviation ---- */

/* Welford's: exact enough where the mean is large against it. */
struct deviation {
	double count, mean, squares;
};

static void deviation_step(sqlite3_context *out, int count, sqlite3_value **values)
{
	struct deviation *own = sqlite3_aggregate_context(out, sizeof *own);
	double value = sqlite3_value_double(values[0]), off;

	(void)count;
	if (!own || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	off = value - own->mean;
	own->count++;
	own->mean += off / own->count;
	own->squares += off * (value - own->mean);
}

static void deviation_end(sqlite3_context *out)
{
	const struct deviation *own = sqlite3_aggregate_context(out, 0);

	if (own && own->count > 0)
		sqlite3_result_double(out, sqrt(own->squares / own->count));
	else
		sqlite3_result_null(out);
}

static void session_end(void *own)
{
	sql_session_free(own);
}

int sql_functions_register(sqlite3 *db, struct sql_session *session)
{
	int rc = sqlite3_create_function_v2(db, "hpct_open", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, session,
		open_run, NULL, NULL, session_end);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(
			db, "hpct_schema", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, schema, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "percentile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
			NULL, percentile_step, percentile_end);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "stddev", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
			deviation_step, deviation_end);
	return rc;
}
