/* SPDX-License-Identifier: Apache-2.0 */
/* extension.c - see extension.h. */
#include "formats/sql/extension.h"

#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sql/completion.h"
#include "formats/sql/functions.h"
#include "formats/sql/table.h"

SQLITE_EXTENSION_INIT1

int sql_extension_attach(sqlite3 *db, const struct sqlite3_api_routines *api, struct sql_session *session)
{
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	rc = sql_functions_register(db, session);
	return rc == SQLITE_OK ? sql_tables_register(db, session) : rc;
}

int sqlite3_hpctsql_init(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	const char *run = getenv(SQL_RUN_VARIABLE);
	struct sql_session *session = sql_session_new(NULL);
	int rc;

	(void)message;
	if (!session)
		return SQLITE_NOMEM;
	session->named = run && *run ? strdup(run) : NULL;
	rc = sql_extension_attach(db, api, session);
	return rc == SQLITE_OK && getenv(SQL_SHELL_VARIABLE) ? sql_completion_register(db) : rc;
}
