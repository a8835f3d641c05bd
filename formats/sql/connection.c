/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - see connection.h. */
#include "formats/sql/connection.h"

#include <string.h>

#include "formats/sql/extension.h"

#define READS_ONLY "hpct-sql reads a run and writes nothing: ask with SELECT"

/* For attach(), which SQLite calls for each connection that is opened meanwhile, those of other threads, too.
 */
/* In the static block: ld.so is asked for no address, which the archive's programs could not do. */
#ifdef HPCT_PORTABLE /* one thread, or libhpct's lock (store/portable/relocatable.py) */
#define OF_A_THREAD
#else
#define OF_A_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#endif
static OF_A_THREAD struct sql_session *opening;

static int attach(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	struct sql_session *session = opening;

	(void)message;
	opening = NULL;
	return session ? sql_extension_attach(db, api, session) : SQLITE_OK;
}

/* Pragmas that say what there is. */
static bool is_harmless(const char *pragma)
{
	static const char *const names[] = {"table_info", "table_xinfo", "table_list", "module_list",
		"function_list", "pragma_list", "compile_options", "database_list", "collation_list"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], pragma) == 0)
			return true;
	return false;
}

static int authorize(
	void *own, int action, const char *first, const char *second, const char *third, const char *fourth)
{
	struct sql_session *session = own;
	bool is_allowed = session->is_declaring || action == SQLITE_SELECT || action == SQLITE_READ ||
			  action == SQLITE_RECURSIVE || action == SQLITE_FUNCTION ||
			  (action == SQLITE_PRAGMA && is_harmless(first));

	(void)second, (void)third, (void)fourth;
	if (!is_allowed)
		error_set(&session->error, ERROR_USAGE, "%s", READS_ONLY);
	return is_allowed ? SQLITE_OK : SQLITE_DENY;
}

int sql_connection_open(sqlite3 **db, struct sql_session *session, struct error *error)
{
	void (*entry)(void) = (void (*)(void))(void *)attach;
	int rc = sqlite3_auto_extension(entry);

	*db = NULL;
	opening = session;
	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	sqlite3_cancel_auto_extension(entry);
	if (opening) { /* nobody owns it */
		opening = NULL;
		sql_session_free(session);
	}
	if (rc != SQLITE_OK) {
		rc = error_set(error, ERROR_IO, "SQLite cannot be used: %s",
			*db ? sqlite3_errmsg(*db) : "out of memory");
		sqlite3_close(*db);
		return rc;
	}
	sqlite3_set_authorizer(*db, authorize, session);
	return 0;
}

int sql_connection_failed(sqlite3 *db, struct sql_session *session, int rc, struct error *error)
{
	if (session->error.code) {
		if (error)
			*error = session->error;
		return -session->error.code;
	}
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return error_memory(error);
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
		return error_set(
			error, ERROR_IO, "SQLite: %s; TMPDIR says where it sorts", sqlite3_errmsg(db));
	default:
		return error_set(error, ERROR_USAGE, "SQLite: %s; hpct-sql(1) lists tables and columns",
			sqlite3_errmsg(db));
	}
}

int sql_connection_prepare(sqlite3 *db, struct sql_session *session, const char **query,
	sqlite3_stmt **statement, struct error *error)
{
	int rc;

	*statement = NULL;
	session->error.code = 0;
	rc = sqlite3_prepare_v2(db, *query, -1, statement, query);
	if (rc != SQLITE_OK)
		return sql_connection_failed(db, session, rc, error);
	if (*statement && !sqlite3_stmt_readonly(*statement))
		return error_set(error, ERROR_USAGE, READS_ONLY);
	if (*statement && sqlite3_bind_parameter_count(*statement) > 0)
		return error_set(error, ERROR_USAGE,
			"the query has a parameter (? : @ $) and no value for it; write the value itself");
	return 0;
}
