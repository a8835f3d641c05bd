/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - see completion.h. A cursor counts through words: SQLite's, functions, then each table with
 * its columns. The shell drops what comes twice.
 */
#include "formats/sql/completion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sql/table.h"

SQLITE_EXTENSION_INIT3

enum { CANDIDATE, PREFIX, WHOLE_LINE };
#define PREFIX_MAX 256
#define KEYWORDS_SINCE 3024000 /* sqlite3_keyword_name() */

static const char *const functions[] = {"percentile", "stddev", "hpct_open", "hpct_schema"};
#define FUNCTIONS ((int)(sizeof functions / sizeof *functions))

struct completion {
	sqlite3_vtab_cursor base;
	char prefix[PREFIX_MAX];
	int word;	       /* of SQLite's, then of the functions */
	size_t table, column;  /* column 0: the table itself */
	const char *candidate; /* NULL: at the end */
	int size;
	sqlite3_int64 row;
};

/* The word that comes next, whatever it begins with. */
static void step(struct completion *at)
{
	const struct sql_table *table;
	int words = sqlite3_keyword_count();

	at->candidate = NULL;
	if (at->word < words) {
		if (sqlite3_keyword_name(at->word++, &at->candidate, &at->size) != SQLITE_OK)
			at->candidate = NULL;
		return;
	}
	if (at->word < words + FUNCTIONS) {
		at->candidate = functions[at->word++ - words];
	} else if ((table = sql_tables[at->table]) != NULL) {
		at->candidate = at->column ? table->columns[at->column - 1].name : table->name;
		if (at->column++ == table->column_count) {
			at->column = 0;
			at->table++;
		}
	}
	at->size = at->candidate ? (int)strlen(at->candidate) : 0;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct completion *at = (struct completion *)cursor;
	int size = (int)strlen(at->prefix);

	at->row++;
	do
		step(at);
	while (at->candidate && (at->size < size || sqlite3_strnicmp(at->candidate, at->prefix, size) != 0));
	return SQLITE_OK;
}

/* The prefix is given, or it is the last word of the line. */
static int cursor_filter(
	sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values)
{
	struct completion *at = (struct completion *)cursor;
	const char *given = count ? (const char *)sqlite3_value_text(values[0]) : NULL, *word;

	(void)text;
	given = given ? given : "";
	word = given + strlen(given);
	while (number == WHOLE_LINE && word > given && (isalnum((unsigned char)word[-1]) || word[-1] == '_'))
		word--;
	sqlite3_snprintf(PREFIX_MAX, at->prefix, "%s", number == WHOLE_LINE ? word : given);
	at->word = 0;
	at->table = at->column = 0;
	at->row = 0;
	return cursor_next(cursor);
}

static int cursor_end(sqlite3_vtab_cursor *cursor)
{
	return !((struct completion *)cursor)->candidate;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
	const struct completion *at = (struct completion *)cursor;

	if (column == CANDIDATE)
		sqlite3_result_text(out, at->candidate, at->size, SQLITE_TRANSIENT);
	else if (column == PREFIX)
		sqlite3_result_text(out, at->prefix, -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
	*row = ((struct completion *)cursor)->row;
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	struct completion *at = calloc(1, sizeof *at);

	(void)table;
	*cursor = at ? &at->base : NULL;
	return at ? SQLITE_OK : SQLITE_NOMEM;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* One of the two arguments is passed on, the prefix before the line. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 300;
	for (int wanted = PREFIX; wanted <= WHOLE_LINE && !info->idxNum; wanted++)
		for (int i = 0; i < info->nConstraint && !info->idxNum; i++)
			if (info->aConstraint[i].iColumn == wanted && info->aConstraint[i].usable &&
				info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
				info->idxNum = wanted;
				info->aConstraintUsage[i].argvIndex = 1;
			}
	for (int i = 0; i < info->nConstraint; i++) /* of the hidden columns there is nothing to check */
		info->aConstraintUsage[i].omit = info->aConstraint[i].iColumn >= PREFIX;
	return SQLITE_OK;
}

static int table_connect(
	sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **table, char **message)
{
	int rc = sqlite3_declare_vtab(
		db, "CREATE TABLE x(candidate TEXT, prefix TEXT HIDDEN, wholeline TEXT HIDDEN)");

	(void)own, (void)count, (void)words, (void)message;
	*table = rc == SQLITE_OK ? calloc(1, sizeof **table) : NULL;
	return rc == SQLITE_OK && !*table ? SQLITE_NOMEM : rc;
}

static int table_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static const sqlite3_module completion_calls = {
	.xConnect = table_connect,
	.xBestIndex = best_index,
	.xDisconnect = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_end,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int sql_completion_register(sqlite3 *db)
{
	if (sqlite3_libversion_number() < KEYWORDS_SINCE)
		return SQLITE_OK;
	return sqlite3_create_module_v2(db, "completion", &completion_calls, NULL, NULL);
}
