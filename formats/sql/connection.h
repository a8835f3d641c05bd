/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - a connection of SQLite that reads runs and writes nothing: it has no file, and only
 * statements that read are run. For hpct-sql and hpct_sql().
 */
#ifndef FORMATS_CONNECTION_H
#define FORMATS_CONNECTION_H

#include <sqlite3.h>

#include "formats/sql/session.h"

/* From now on the connection owns the session, also after a failure; sqlite3_close(). */
int sql_connection_open(sqlite3 **db, struct sql_session *session, struct error *error);
/* What a code of SQLite other than DONE means: of the tables the sentence and the code that the reader has,
 * of SQLite itself what it says. Negative. */
int sql_connection_failed(sqlite3 *db, struct sql_session *session, int rc, struct error *error);
/* The next statement of *query, which moves behind it; NULL: blanks or a comment. ERROR_USAGE: it would
 * write, or has a parameter. sqlite3_finalize(), also after a failure. */
int sql_connection_prepare(sqlite3 *db, struct sql_session *session, const char **query,
	sqlite3_stmt **statement, struct error *error);

#endif
