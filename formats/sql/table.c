/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - SQLite's side of the virtual tables: constraints in, rows out, errors as sentences.
 */
#include "formats/sql/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/library/question.h"
#include "store/base/escape.h"
#include "store/base/hash.h"

SQLITE_EXTENSION_INIT3

#define PLAN_BYTES 512
#define USED_BITS 0x7fffffff

struct sql_vtab {
	sqlite3_vtab base;
	const struct sql_table *table;
	struct sql_session *session;
};

/* What sqlite3_create_module() passes on. */
struct sql_module {
	const struct sql_table *table;
	struct sql_session *session;
};

/* ---- values ---- */

void sql_put_field(struct sql_cursor *cursor, sqlite3_context *out, const char *text, size_t size)
{
	cursor->text.size = 0;
	escape_field(&cursor->text, text, size);
	if (cursor->text.failed)
		sqlite3_result_error_nomem(out);
	else if (cursor->text.size)
		sqlite3_result_text64(out, (const char *)cursor->text.data, cursor->text.size,
			SQLITE_TRANSIENT, SQLITE_UTF8);
}

void sql_put_string(struct sql_cursor *cursor, sqlite3_context *out, const char *text)
{
	if (text)
		sql_put_field(cursor, out, text, strlen(text));
}

void sql_put_composed(sqlite3_context *out, const char *text)
{
	if (text && *text)
		sqlite3_result_text64(out, text, strlen(text), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void sql_put_lasting(sqlite3_context *out, const char *text)
{
	if (!text)
		sqlite3_result_error_nomem(out);
	else if (*text)
		sqlite3_result_text64(out, text, strlen(text), SQLITE_STATIC, SQLITE_UTF8);
}

void sql_put_path(struct sql_cursor *cursor, sqlite3_context *out, uint32_t context)
{
	sql_put_lasting(out, sql_run_path(cursor->run, context));
}

void sql_put_number(sqlite3_context *out, uint64_t number)
{
	char text[24];

	if (number <= INT64_MAX) {
		sqlite3_result_int64(out, (sqlite3_int64)number);
		return;
	}
	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

void sql_put_optional(sqlite3_context *out, uint64_t number, bool is_there)
{
	if (is_there)
		sql_put_number(out, number);
}

void sql_put_time(const struct sql_cursor *cursor, sqlite3_context *out, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(cursor->call.run);

	sql_put_number(out, time_ns > origin_ns ? time_ns - origin_ns : 0);
}

/* ---- the selector ---- */

/* Arguments of tables, and the selector's options that they are. */
static const struct {
	const char *argument, *option;
} select_names[] = {{"streams", "streams"}, {"contexts", "context"}, {"ops", "op"}, {"metrics", "metric"},
	{"max_depth", "depth"}, {"min", "min"}, {"by", "by"}};

int sql_column_find(const struct sql_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

static sqlite3_value *given(const struct sql_cursor *cursor, const struct sql_ask *ask, const char *argument)
{
	int column = sql_column_find(cursor->table, argument);
	sqlite3_value *value = column < 0 ? NULL : ask->limits[column].equal;

	return value && sqlite3_value_type(value) != SQLITE_NULL ? value : NULL;
}

const char *sql_ask_text(const struct sql_cursor *cursor, const struct sql_ask *ask, const char *column)
{
	sqlite3_value *value = given(cursor, ask, column);

	return value ? (const char *)sqlite3_value_text(value) : NULL;
}

bool sql_cursor_selects(const struct sql_cursor *cursor, const struct sql_ask *ask)
{
	for (size_t i = 0; i < sizeof select_names / sizeof *select_names; i++)
		if (given(cursor, ask, select_names[i].argument))
			return true;
	return given(cursor, ask, "begin") || given(cursor, ask, "end");
}

/* A moment as --time has it: a number is ns from the run's origin. "" when it is left out. */
static char *moment_of(
	const struct sql_cursor *cursor, const struct sql_ask *ask, const char *argument, struct arena *arena)
{
	sqlite3_value *value = given(cursor, ask, argument);

	if (!value)
		return arena_printf(arena, "%s", "");
	if (sqlite3_value_type(value) == SQLITE_TEXT)
		return arena_printf(arena, "%s", (const char *)sqlite3_value_text(value));
	if (sqlite3_value_type(value) == SQLITE_FLOAT)
		return arena_printf(arena, "%.0fns", sqlite3_value_double(value));
	return arena_printf(arena, "%lldns", (long long)sqlite3_value_int64(value));
}

/* begin and end as --time A..B; begin alone may be a whole window, such as a mark. */
static int take_time(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	char *begin = moment_of(cursor, ask, "begin", &cursor->call.arena);
	char *end = moment_of(cursor, ask, "end", &cursor->call.arena), *window;

	if (!begin || !end)
		return error_memory(error);
	if (!*begin && !*end)
		return 0;
	if (!*end && (*begin == '@' || strstr(begin, "..")))
		return select_option(cursor->call.select, "time", begin, error);
	window = arena_printf(&cursor->call.arena, "%s..%s", begin, end);
	return window ? select_option(cursor->call.select, "time", window, error) : error_memory(error);
}

/* A metric that rows are asked for by = is the only one to be computed. Names with signs of patterns are
 * left to SQLite. */
static int take_metric(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error)
{
	const char *metric = sql_ask_text(cursor, ask, "metric");

	if (!metric || sql_ask_text(cursor, ask, "metrics") || !*metric || strpbrk(metric, ",*?[]\\\""))
		return 0;
	return select_option(cursor->call.select, "metric", metric, error);
}

int sql_cursor_select(
	struct sql_cursor *cursor, const struct sql_ask *ask, unsigned uses, struct error *error)
{
	struct program_call *call = &cursor->call;
	int rc = select_new(&call->select, error);

	if (rc < 0)
		return rc;
	question_select_take(call->select, uses);
	for (size_t i = 0; i < sizeof select_names / sizeof *select_names && rc == 0; i++) {
		const char *value = sql_ask_text(cursor, ask, select_names[i].argument);

		if (value && strcmp(select_names[i].option, "metric") == 0)
			rc = select_metrics(call->select, value, error);
		else if (value)
			rc = select_option(call->select, select_names[i].option, value, error);
	}
	if (rc == 0)
		rc = take_time(cursor, ask, error);
	if (rc == 0 && uses & PROGRAM_STATE_METRICS && sql_column_find(cursor->table, "metric") >= 0)
		rc = take_metric(cursor, ask, error);
	return rc < 0 ? rc : select_bind(call->select, call->run, error);
}

/* ---- plans ---- */

static const char *operator_of(unsigned char op, unsigned use)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return use & (SQL_ARGUMENT | SQL_EQUAL | SQL_RANGE) ? "=?" : NULL;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return use & SQL_RANGE ? ">?" : NULL;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return use & SQL_RANGE ? ">=?" : NULL;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return use & SQL_RANGE ? "<?" : NULL;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return use & SQL_RANGE ? "<=?" : NULL;
	case SQLITE_INDEX_CONSTRAINT_GLOB:
		return use & SQL_GLOB ? " GLOB ?" : NULL;
	default:
		return NULL;
	}
}

/* What is left of so many rows. */
static double share_of(unsigned char op, unsigned use)
{
	if (use & SQL_ARGUMENT)
		return 1;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ)
		return use & SQL_RANGE ? 1e-4 : 0.02;
	return op == SQLITE_INDEX_CONSTRAINT_GLOB ? 0.1 : 0.25;
}

/* Texts are compared byte by byte here: = with another collation (NOCASE) is SQLite's. */
static bool is_other_collation(sqlite3_index_info *info, int i, unsigned use)
{
	const char *collation;

	if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || use & (SQL_ARGUMENT | SQL_RANGE))
		return false;
	collation = sqlite3_vtab_collation(info, i);
	return collation && strcmp(collation, "BINARY") != 0;
}

/* Takes constraints over in their order: the plan's text says which, one after another. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_table *table = ((struct sql_vtab *)base)->table;
	char plan[PLAN_BYTES] = "";
	size_t used = 0;
	double rows = table->rows;
	int taken = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
		const struct sql_column *column =
			constraint->iColumn < 0 ? NULL : &table->columns[constraint->iColumn];
		const char *text = column ? operator_of(constraint->op, column->use) : NULL;

		if (!text || is_other_collation(info, i, column->use))
			continue;
		if (!constraint->usable) {
			if (column->use & SQL_ARGUMENT)
				return SQLITE_CONSTRAINT; /* needs a row of a table that must come first */
			continue;
		}
		if (used + strlen(column->name) + 12 > sizeof plan)
			break;
		used += (size_t)sprintf(plan + used, "%s%s%s", taken ? ", " : "", column->name, text);
		info->aConstraintUsage[i].argvIndex = ++taken;
		info->aConstraintUsage[i].omit = (column->use & SQL_ARGUMENT) != 0;
		rows *= share_of(constraint->op, column->use);
		if (column->use & SQL_KEY && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ) {
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
			rows = 1;
		}
	}
	info->idxNum = (int)(info->colUsed & USED_BITS);
	info->idxStr = sqlite3_mprintf("%s", plan);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = 10 + rows;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- constraints ---- */

/* The largest whole number below (or at) a real one, within int64. */
static sqlite3_int64 whole_of(double real)
{
	if (real >= 9.2e18)
		return INT64_MAX;
	return real <= -9.2e18 ? INT64_MIN : (sqlite3_int64)real;
}

static void take_range(struct sql_limit *limit, const char *op, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);
	double real = sqlite3_value_double(value);
	bool is_whole = type == SQLITE_INTEGER;
	sqlite3_int64 below, above;

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	below = is_whole ? sqlite3_value_int64(value) : whole_of(floor(real));
	above = is_whole ? below : whole_of(ceil(real));
	if (op[0] == '>') {
		if (op[1] != '=' && below < INT64_MAX)
			above = below + 1;
		limit->least = above > limit->least ? above : limit->least;
	} else if (op[0] == '<') {
		if (op[1] != '=' && above > INT64_MIN)
			below = above - 1;
		limit->most = below < limit->most ? below : limit->most;
	} else {
		limit->least = above > limit->least ? above : limit->least;
		limit->most = below < limit->most ? below : limit->most;
	}
}

static void take_constraint(
	struct sql_cursor *cursor, struct sql_ask *ask, const char *token, size_t size, sqlite3_value *value)
{
	const struct sql_table *table = cursor->table;
	size_t name = strcspn(token, "<>= ");

	for (size_t i = 0; i < table->column_count; i++) {
		struct sql_limit *limit = &ask->limits[i];

		if (strlen(table->columns[i].name) != name ||
			memcmp(table->columns[i].name, token, name) != 0)
			continue;
		if (table->columns[i].use & SQL_RANGE)
			take_range(limit, token + name, value);
		else if (name < size && token[name] == ' ')
			limit->glob = value;
		else
			limit->equal = value;
		if (table->columns[i].use & SQL_ARGUMENT) {
			sqlite3_value_free(cursor->given[i]);
			cursor->given[i] = sqlite3_value_dup(value);
		}
	}
}

static void take_constraints(
	struct sql_cursor *cursor, struct sql_ask *ask, const char *plan, int count, sqlite3_value **values)
{
	for (size_t i = 0; i < SQL_COLUMNS_MAX; i++) {
		ask->limits[i].least = INT64_MIN;
		ask->limits[i].most = INT64_MAX;
	}
	for (int i = 0; i < count && plan && *plan; i++) {
		const char *end = strstr(plan, ", ");
		size_t size = end ? (size_t)(end - plan) : strlen(plan);

		take_constraint(cursor, ask, plan, size, values[i]);
		plan += size + (end ? 2 : 0);
	}
}

/* ---- SQLite's calls ---- */

static int fail(struct sql_cursor *cursor, const struct error *error)
{
	struct sql_vtab *vtab = (struct sql_vtab *)cursor->base.pVtab;

	cursor->session->error = *error;
	sqlite3_free(vtab->base.zErrMsg);
	vtab->base.zErrMsg = sqlite3_mprintf("%s", error->text);
	return SQLITE_ERROR;
}

static int declare(sqlite3 *db, const struct sql_table *table)
{
	char text[2048];
	size_t used = (size_t)snprintf(text, sizeof text, "CREATE TABLE x(");

	for (size_t i = 0; i < table->column_count && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\" %s%s", i ? ", " : "",
			table->columns[i].name, table->columns[i].type,
			table->columns[i].use & (SQL_ARGUMENT | SQL_FORMULA) ? " HIDDEN" : "");
	if (used + 2 > sizeof text)
		return SQLITE_ERROR;
	strcpy(text + used, ")");
	return sqlite3_declare_vtab(db, text);
}

static int vtab_connect(
	sqlite3 *db, void *own, int argc, const char *const *argv, sqlite3_vtab **result, char **message)
{
	const struct sql_module *module = own;
	struct sql_vtab *vtab;
	int rc;

	module->session->is_declaring = true;
	rc = declare(db, module->table);
	module->session->is_declaring = false;
	(void)argc, (void)argv, (void)message;
	if (rc != SQLITE_OK)
		return rc;
	vtab = sqlite3_malloc(sizeof *vtab);
	if (!vtab)
		return SQLITE_NOMEM;
	*vtab = (struct sql_vtab){.table = module->table, .session = module->session};
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	*result = &vtab->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int cursor_new(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
	const struct sql_vtab *vtab = (struct sql_vtab *)base;
	struct sql_cursor *cursor = calloc(1, vtab->table->cursor_bytes);

	if (!cursor)
		return SQLITE_NOMEM;
	cursor->table = vtab->table;
	cursor->session = vtab->session;
	if (cursor->session->cursors++ == 0)
		cursor->session->renewal++;
	*result = &cursor->base;
	return SQLITE_OK;
}

/* What the last filter left. */
static void rewind_cursor(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;

	if (table->close && cursor->call.run)
		table->close(cursor);
	if (cursor->call.select)
		select_free(cursor->call.select);
	arena_fini(&cursor->call.arena);
	for (size_t i = 0; i < SQL_COLUMNS_MAX; i++) {
		sqlite3_value_free(cursor->given[i]);
		cursor->given[i] = NULL;
	}
	cursor->call = (struct program_call){.format = REPORT_TSV};
	cursor->row = cursor->count = 0;
	cursor->at_end = false;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	rewind_cursor(cursor);
	store_bytes_fini(&cursor->text);
	cursor->session->cursors--;
	free(cursor);
	return SQLITE_OK;
}

static int cursor_filter(
	sqlite3_vtab_cursor *base, int used, const char *plan, int count, sqlite3_value **values)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	struct sql_ask ask = {.used = (uint64_t)used};
	struct error error = {0};
	int rc;

	rewind_cursor(cursor);
	take_constraints(cursor, &ask, plan, count, values);
	rc = sql_session_run(cursor->session, sql_ask_text(cursor, &ask, "run"), &cursor->run, &error);
	if (rc == 0) {
		cursor->call.run = cursor->run->run;
		cursor->call.run_options = cursor->session->options;
		rc = cursor->table->open(cursor, &ask, &error);
	}
	return rc < 0 ? fail(cursor, &error) : SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	struct error error = {0};

	cursor->row++;
	if (cursor->table->next && cursor->table->next(cursor, &error) < 0)
		return fail(cursor, &error);
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	const struct sql_cursor *cursor = (struct sql_cursor *)base;

	return cursor->table->next ? cursor->at_end : cursor->row >= cursor->count;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	if (cursor->table->columns[column].use & SQL_ARGUMENT) {
		if (cursor->given[column])
			sqlite3_result_value(out, cursor->given[column]);
		return SQLITE_OK;
	}
	cursor->table->column(cursor, out, column);
	return SQLITE_OK;
}

/* Rows of other arguments are other rows. */
static uint64_t hash_arguments(const struct sql_cursor *cursor)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < cursor->table->column_count; i++) {
		const char *text =
			cursor->given[i] ? (const char *)sqlite3_value_text(cursor->given[i]) : NULL;

		if (text)
			hash = store_hash64(text, strlen(text), hash + i);
	}
	return hash;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	uint64_t identity = cursor->row;

	if (cursor->table->identity && !cursor->table->identity(cursor, &identity))
		return SQLITE_NOMEM;
	*row = (sqlite3_int64)store_hash64(&identity, sizeof identity, hash_arguments(cursor));
	return SQLITE_OK;
}

/* Without xCreate a table is there under its own name only; without xUpdate nothing writes it. */
static const sqlite3_module module_calls = {
	.iVersion = 0,
	.xConnect = vtab_connect,
	.xBestIndex = best_index,
	.xDisconnect = vtab_disconnect,
	.xOpen = cursor_new,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int sql_tables_register(sqlite3 *db, struct sql_session *session)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; sql_tables[i] && rc == SQLITE_OK; i++) {
		struct sql_module *module = malloc(sizeof *module);

		if (!module)
			return SQLITE_NOMEM;
		*module = (struct sql_module){sql_tables[i], session};
		rc = sqlite3_create_module_v2(db, sql_tables[i]->name, &module_calls, module, free);
	}
	return rc;
}
