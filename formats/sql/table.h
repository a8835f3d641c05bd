/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a virtual table as a list of columns and four functions; table.c does what SQLite asks of all of
 * them: which constraints are taken over, and what EXPLAIN QUERY PLAN says of that.
 *
 *   WHERE stream = 'cpu:...' AND begin_ns >= 5   --best_index-->  "stream=?, begin_ns>=?"
 *        --filter-->  struct sql_ask  --open-->  first row  --next-->  ...
 */
#ifndef FORMATS_SQL_TABLE_H
#define FORMATS_SQL_TABLE_H

#include <sqlite3ext.h>

#include "formats/sql/session.h"
#include "timeline/report/program.h"

#define SQL_COLUMNS_MAX 24

enum sql_column_use {
	SQL_SHOWN = 0,
	SQL_ARGUMENT = 1, /* hidden; given by position or with =, else NULL */
	SQL_EQUAL = 2,	  /* = is taken over */
	SQL_RANGE = 4,	  /* = < <= > >= of whole numbers */
	SQL_GLOB = 8,
	SQL_KEY = 16,	 /* with SQL_EQUAL: gives one row at most */
	SQL_FORMULA = 32 /* hidden; the value of the last formula of the argument "metrics" */
};

struct sql_column {
	const char *name, *type;
	unsigned use;
};

/* What is taken over of a column's constraints. SQLite checks rows again, so taking over less is right, too.
 */
struct sql_limit {
	sqlite3_value *equal, *glob; /* NULL: none; valid while the cursor opens */
	sqlite3_int64 least, most;
};

struct sql_ask {
	struct sql_limit limits[SQL_COLUMNS_MAX]; /* by column */
	uint64_t used;				  /* bit k: column k is read */
};

struct sql_table;

/* Begins every cursor. */
struct sql_cursor {
	sqlite3_vtab_cursor base;
	const struct sql_table *table;
	struct sql_session *session;
	struct sql_run *run;
	struct program_call call; /* its run; its select, if the table made one; its arena, freed at close */
	size_t row, count;	  /* of a list: the current row, and how many there are */
	bool at_end;		  /* of other tables */
	struct store_bytes text;  /* scratch */
	sqlite3_value *given[SQL_COLUMNS_MAX]; /* the arguments, by column */
};

struct sql_table {
	const char *name;
	const struct sql_column *columns;
	size_t column_count;
	double rows; /* about how many without constraints */
	size_t cursor_bytes;
	/* Moves to the first row: sets `count` of a list, else `at_end`. The errors of the readers. */
	int (*open)(struct sql_cursor *cursor, const struct sql_ask *ask, struct error *error);
	/* NULL: a list. */
	int (*next)(struct sql_cursor *cursor, struct error *error);
	void (*column)(struct sql_cursor *cursor, sqlite3_context *out, int column);
	/* What the row is whatever else its filter gives: SQLite, which reads each side of an OR by a filter
	 * of its own, drops rows of the same identity. NULL: its place in the list, which the arguments alone
	 * make. False: no memory. */
	bool (*identity)(struct sql_cursor *cursor, uint64_t *identity);
	/* Undoes open, also one that failed; may be NULL. */
	void (*close)(struct sql_cursor *cursor);
};

/* The tables, ended by NULL. */
extern const struct sql_table *const sql_tables[];

/* Registers them. The session must outlive the connection. */
int sql_tables_register(sqlite3 *db, struct sql_session *session);

/* ---- for tables ---- */

/* Makes and binds the selector of the arguments named as select_names in table.c says; `uses`: of
 * question_select_take(). */
int sql_cursor_select(
	struct sql_cursor *cursor, const struct sql_ask *ask, unsigned uses, struct error *error);
/* True when any of those arguments was given. */
bool sql_cursor_selects(const struct sql_cursor *cursor, const struct sql_ask *ask);
/* The column of that name; it is there. */
int sql_column_find(const struct sql_table *table, const char *name);
/* The text of an argument; NULL: not given. */
const char *sql_ask_text(const struct sql_cursor *cursor, const struct sql_ask *ask, const char *column);

/* A text as in a field of the TSV: escaped, or already so (composed); NULL and "" are NULL. */
void sql_put_field(struct sql_cursor *cursor, sqlite3_context *out, const char *text, size_t size);
void sql_put_string(struct sql_cursor *cursor, sqlite3_context *out, const char *text);
void sql_put_composed(sqlite3_context *out, const char *text);
/* A text of sql_run_*(), which is not copied; NULL: there was no memory for it. */
void sql_put_lasting(sqlite3_context *out, const char *text);
/* A context's path. */
void sql_put_path(struct sql_cursor *cursor, sqlite3_context *out, uint32_t context);
/* As a number up to 2^63, beyond as its figures. */
void sql_put_number(sqlite3_context *out, uint64_t number);
void sql_put_optional(sqlite3_context *out, uint64_t number, bool is_there);
/* Time from the run's origin. */
void sql_put_time(const struct sql_cursor *cursor, sqlite3_context *out, uint64_t time_ns);

#endif
