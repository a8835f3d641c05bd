/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_sums.c - sums of a window, from rollups as hpct-stats and hpct-profile make them: the arguments are
 * the selector's options.
 */
#include <string.h>

#include "formats/sql/tables.h"
#include "timeline/profile/profile.h"
#include "timeline/report/coverage.h"
#include "timeline/stats/stats_ask.h"

SQLITE_EXTENSION_INIT3

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- stats: the columns of hpct-stats ---- */

struct stats_cursor {
	struct sql_cursor base;
	struct stats stats;
};

static const struct sql_column stats_columns[] = {{"key", "TEXT"}, {"time_ns", "INTEGER"},
	{"percent", "REAL"}, {"records", "INTEGER"}, {"state", "TEXT"}, {"context", "INTEGER"},
	{"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT}, {"by", "TEXT", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT}, {"ops", "TEXT", SQL_ARGUMENT},
	{"metrics", "TEXT", SQL_ARGUMENT}, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int stats_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct stats *stats = &((struct stats_cursor *)cursor)->stats;
	int rc = sql_cursor_select(cursor, ask, PROGRAM_STATE_METRICS, error);

	if (rc == 0)
		rc = stats_ask(stats, cursor->call.run, cursor->call.select, &cursor->call.arena, error);
	cursor->count = rc < 0 ? 0 : stats->count;
	return rc;
}

static void stats_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct stats *stats = &((struct stats_cursor *)cursor)->stats;
	const struct stats_row *row = &stats->rows[cursor->row];

	switch (column) {
	case 0: /* the path of the root is empty, not unknown */
		sqlite3_result_text(out, row->key, -1, SQLITE_TRANSIENT);
		break;
	case 1:
		sql_put_number(out, row->time_ns);
		break;
	case 2:
		sqlite3_result_double(out, 100.0 * (double)row->time_ns / (double)stats->total_ns);
		break;
	case 3:
		sql_put_number(out, row->records);
		break;
	case 4:
		sql_put_composed(out, extent_state_name(row->state));
		break;
	default:
		sql_put_optional(out, row->context, row->context != 0);
	}
}

const struct sql_table sql_table_stats = {.name = "stats",
	.columns = stats_columns,
	.column_count = COUNT(stats_columns),
	.rows = 1000,
	.cursor_bytes = sizeof(struct stats_cursor),
	.open = stats_open,
	.column = stats_column};

/* ---- profile: a row for each node and metric ---- */

enum {
	PROFILE_DEPTH,
	PROFILE_ID,
	PROFILE_PARENT,
	PROFILE_KIND,
	PROFILE_NAME,
	PROFILE_ROW_MODULE,
	PROFILE_ROW_FILE,
	PROFILE_ROW_LINE,
	PROFILE_METRIC,
	PROFILE_INCLUSIVE,
	PROFILE_EXCLUSIVE
};

struct profile_cursor {
	struct sql_cursor base;
	struct profile profile;
};

static const struct sql_column profile_columns[] = {{"depth", "INTEGER"}, {"id", "INTEGER"},
	{"parent", "INTEGER"}, {"kind", "TEXT"}, {"name", "TEXT"}, {"module", "TEXT"}, {"file", "TEXT"},
	{"line", "INTEGER"}, {"metric", "TEXT", SQL_EQUAL}, {"inclusive", ""}, {"exclusive", ""},
	{"begin", "", SQL_ARGUMENT}, {"end", "", SQL_ARGUMENT}, {"view", "TEXT", SQL_ARGUMENT},
	{"streams", "TEXT", SQL_ARGUMENT}, {"contexts", "TEXT", SQL_ARGUMENT},
	{"metrics", "TEXT", SQL_ARGUMENT}, {"max_depth", "", SQL_ARGUMENT}, {"run", "TEXT", SQL_ARGUMENT}};

static int find_view(const struct sql_cursor *cursor, const struct sql_ask *ask, enum profile_view *view,
	struct error *error)
{
	const char *name = sql_ask_text(cursor, ask, "view");
	int found = name ? profile_view_find(name) : PROFILE_TOP_DOWN;

	if (found < 0)
		return error_set(error, ERROR_USAGE, "view '%s': say top-down, bottom-up or flat", name);
	*view = (enum profile_view)found;
	return 0;
}

static int profile_open(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	struct profile *profile = &((struct profile_cursor *)cursor)->profile;
	struct program_call *call = &cursor->call;
	enum profile_view view = PROFILE_TOP_DOWN;
	int rc = find_view(cursor, ask, &view, error);

	*profile = (struct profile){0};
	if (rc == 0)
		rc = sql_cursor_select(cursor, ask, PROGRAM_STATE_METRICS | PROGRAM_GPU, error);
	if (rc == 0)
		rc = coverage_require(call->run, call->select, error);
	if (rc == 0 && select_state_metrics(call->select))
		rc = select_require_sums(call->select, error);
	if (rc == 0)
		rc = profile_compute(profile, call->run, call->select, view, &call->arena, error);
	cursor->count = rc < 0 ? 0 : profile->count * profile->metric_count;
	return rc;
}

static void put_amount(
	sqlite3_context *out, const struct profile_metric *metric, const union profile_value *value)
{
	if (metric->is_real)
		sqlite3_result_double(out, value->real);
	else
		sql_put_number(out, value->number);
}

static void profile_column(struct sql_cursor *cursor, sqlite3_context *out, int column)
{
	const struct profile *profile = &((struct profile_cursor *)cursor)->profile;
	size_t number = cursor->row / profile->metric_count, m = cursor->row % profile->metric_count;
	const struct profile_row *row = &profile->rows[number];

	switch (column) {
	case PROFILE_DEPTH:
		sql_put_number(out, row->depth);
		break;
	case PROFILE_ID:
		sql_put_number(out, number);
		break;
	case PROFILE_PARENT:
		sql_put_optional(out, row->parent, row->parent != UINT32_MAX);
		break;
	case PROFILE_KIND:
		sql_put_composed(out, profile_kind_name(row->kind));
		break;
	case PROFILE_NAME:
		sql_put_field(cursor, out, row->name, row->name_bytes);
		break;
	case PROFILE_ROW_MODULE:
		sql_put_string(cursor, out, row->module);
		break;
	case PROFILE_ROW_FILE:
		sql_put_string(cursor, out, row->file);
		break;
	case PROFILE_ROW_LINE:
		sql_put_optional(out, row->line, row->line != 0);
		break;
	case PROFILE_METRIC:
		sql_put_string(cursor, out, profile->metrics[m].name);
		break;
	default:
		put_amount(out, &profile->metrics[m],
			column == PROFILE_INCLUSIVE ? &row->inclusive[m] : &row->exclusive[m]);
	}
}

/* The same metric may be one of more on the other side of an OR. */
static bool profile_identity(struct sql_cursor *cursor, uint64_t *identity)
{
	const struct profile *profile = &((struct profile_cursor *)cursor)->profile;

	*identity = (uint64_t)profile->metrics[cursor->row % profile->metric_count].metric << 32 |
		    cursor->row / profile->metric_count;
	return true;
}

const struct sql_table sql_table_profile = {.name = "profile",
	.columns = profile_columns,
	.column_count = COUNT(profile_columns),
	.rows = 10000,
	.cursor_bytes = sizeof(struct profile_cursor),
	.open = profile_open,
	.column = profile_column,
	.identity = profile_identity};
