/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extension.h - the tables as what `.load libhpct_sql` loads, and what hpct-sql opens its connection with.
 */
#ifndef FORMATS_SQL_EXTENSION_H
#define FORMATS_SQL_EXTENSION_H

#include <sqlite3.h>

/* The run of questions that name none, for a connection that did not call hpct_open(); else the newest run
 * of the current directory. */
#define SQL_RUN_VARIABLE "HPCT_RUN"
/* Set by hpct-sql for the shell that it starts: what the tabulator completes is ours, too (completion.h). */
#define SQL_SHELL_VARIABLE "HPCT_SQL_SHELL"

struct sql_session;
struct sqlite3_api_routines;

/* SQLite's entry point of the extension. */
__attribute__((visibility("default"))) int sqlite3_hpctsql_init(
	sqlite3 *db, char **message, const struct sqlite3_api_routines *api);

/* The same with a session, for a program's sqlite3_auto_extension(). From now on the connection owns it, also
 * after a failure, and frees it when it is closed. A code of SQLite. */
int sql_extension_attach(sqlite3 *db, const struct sqlite3_api_routines *api, struct sql_session *session);

#endif
