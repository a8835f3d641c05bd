/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_sql.c - hpct-sql: asks a run in SQL, by SQLite. It writes nothing: the connection has no file, and
 * only statements that read are run.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/sql/connection.h"
#include "formats/sql/extension.h"
#include "formats/sql/print.h"
#include "formats/sql/session.h"
#include "timeline/report/program.h"
#include "timeline/sum/mpi_ranks.h"

#define EXTENSION "../lib/libhpct_sql.so"
#define QUERY_MAX ((size_t)1 << 30)

static struct sql_session *session; /* of the connection */
static pid_t asking;		    /* this process, not those that share its sums */

/* ---- interruption ---- */

/* Nothing is left to clear away: what SQLite and the readers write for themselves has no name. */
static void interrupted(int signal_number)
{
	static const char sentence[] = "hpct-sql: interrupted; the answer is not whole\n";

	if (getpid() == asking && write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
		_exit(ERROR_IO);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* ---- the connection ---- */

static int connect_run(sqlite3 **db, struct program_call *call, const char *path, struct error *error)
{
	int rc;

	*db = NULL;
	session = sql_session_new(&call->run_options);
	if (!session)
		return error_memory(error);
	rc = sql_session_choose(session, path, error);
	if (rc < 0) {
		sql_session_free(session);
		return rc;
	}
	return sql_connection_open(db, session, error);
}

/* ---- statements ---- */

static int run_statement(
	sqlite3 *db, sqlite3_stmt *statement, const struct program_call *call, struct error *error)
{
	int rc = SQLITE_DONE, result = sql_print(statement, call->format, &rc, error);

	return result == 0 && rc != SQLITE_DONE ? sql_connection_failed(db, session, rc, error) : result;
}

static int run_all(sqlite3 *db, const char *query, const struct program_call *call, struct error *error)
{
	int result = 0;

	while (result == 0 && *query) {
		sqlite3_stmt *statement;

		result = sql_connection_prepare(db, session, &query, &statement, error);
		if (result == 0 && statement) /* else blanks or a comment */
			result = run_statement(db, statement, call, error);
		sqlite3_finalize(statement);
	}
	return result;
}

/* ---- the words ---- */

/* What is there, or is called like a run, is one. */
static bool is_run(const char *word)
{
	size_t size = strlen(word), suffix = strlen(STORE_RUN_SUFFIX);
	struct stat status;

	while (size > 1 && word[size - 1] == '/')
		size--;
	return (size > suffix && memcmp(word + size - suffix, STORE_RUN_SUFFIX, suffix) == 0) ||
	       stat(word, &status) == 0;
}

static void take_operands(const struct program_call *call, const char **run, const char **query)
{
	*run = *query = NULL;
	if (call->operand_count == 2) {
		*run = call->operands[0];
		*query = call->operands[1];
	} else if (call->operand_count == 1) {
		*(is_run(call->operands[0]) ? run : query) = call->operands[0];
	}
}

/* All of stdin, in the arena. */
static int read_query(struct program_call *call, const char **query, struct error *error)
{
	struct store_bytes text = {0};
	char block[4096];
	size_t size;

	while ((size = fread(block, 1, sizeof block, stdin)) > 0 && text.size < QUERY_MAX)
		store_bytes_put(&text, block, size);
	*query = text.failed ? NULL : arena_copy(&call->arena, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	if (ferror(stdin))
		return error_set(error, ERROR_IO, "the query cannot be read from stdin: %s", strerror(errno));
	return *query ? 0 : error_memory(error);
}

/* ---- the shell ---- */

static const char *const modes[] = {[REPORT_TABLE] = "box", [REPORT_TSV] = "tabs", [REPORT_JSON] = "json"};

/* SQLite's own, with the extension loaded. Returns only what went wrong. */
static int start_shell(const struct program_call *call, const char *run, struct error *error)
{
	char self[PATH_MAX + sizeof EXTENSION], load[PATH_MAX + 64], mode[32];
	ssize_t size = readlink("/proc/self/exe", self, PATH_MAX - 1);
	char *slash;

	self[size > 0 ? size : 0] = '\0';
	slash = strrchr(self, '/');
	strcpy(slash ? slash + 1 : self, EXTENSION);
	snprintf(load, sizeof load, ".load \"%s\" sqlite3_hpctsql_init", self);
	snprintf(mode, sizeof mode, ".mode %s", modes[call->format]);
	if (setenv(SQL_RUN_VARIABLE, run, 1) || setenv(SQL_SHELL_VARIABLE, "1", 1))
		return error_memory(error);
	execlp("sqlite3", "sqlite3", "-cmd", ".bail on", "-cmd", load, "-cmd", ".bail off", "-cmd",
		".prompt 'hpct> ' ' ...> '", "-cmd", ".headers on", "-cmd", mode, ":memory:", (char *)NULL);
	return error_set(error, errno == ENOENT ? ERROR_USAGE : ERROR_IO,
		"SQLite's shell cannot be started (sqlite3: %s); install it, or give the query: hpct-sql RUN "
		"'SELECT ...'",
		strerror(errno));
}

/* The extension opens the run in its own way. */
static bool has_reading_options(const struct run_options *options)
{
	return options->debug_path_count || options->debuginfod || options->python || options->no_rollups ||
	       options->jobs || options->mem_bytes;
}

/* Opens the run first: what is wrong with it is said here. */
static int shell(struct program_call *call, const char *path, struct error *error)
{
	struct run *run;
	char *place;
	int rc;

	if (has_reading_options(&call->run_options))
		return error_set(error, ERROR_USAGE,
			"options of how a run is read need a QUERY: SQLite's shell reads it by itself");
	rc = run_open(&run, path, &call->run_options, error);
	if (rc < 0)
		return rc;
	if (!path)
		fprintf(stderr, "hpct-sql: reading %s\n", run_path(run));
	place = arena_printf(&call->arena, "%s", run_path(run));
	run_close(run);
	return place ? start_shell(call, place, error) : error_memory(error);
}

/* ---- the whole ---- */

static int work(struct program_call *call, struct error *error)
{
	const char *path, *query;
	sqlite3 *db;
	int rc;

	if (mpi_ranks_count() > 1)
		return error_set(error, ERROR_USAGE,
			"one query has one answer, which ranks cannot share: start hpct-sql without mpirun");
	take_operands(call, &path, &query);
	if (!query && isatty(STDIN_FILENO))
		return shell(call, path, error);
	asking = getpid();
	if (signal(SIGINT, interrupted) == SIG_IGN)
		signal(SIGINT, SIG_IGN);
	rc = query ? 0 : read_query(call, &query, error);
	if (rc == 0)
		rc = connect_run(&db, call, path, error);
	if (rc < 0)
		return rc;
	if (!path)
		fprintf(stderr, "hpct-sql: reading %s\n", run_path(session->chosen->run));
	rc = run_all(db, query, call, error);
	sqlite3_close(db);
	return rc;
}

static const struct program program = {
	.name = "hpct-sql",
	.about = "asks a run in SQL",
	.operands = "[RUN] [QUERY]",
	.operands_max = 2,
	.uses = PROGRAM_FORMAT | PROGRAM_RUNS,
	.notes =
		"Tables: streams contexts modules metrics marks samples spans \"values\" profile(begin, end) "
		"stats(begin, end, by) blame(of, by) gaps late. hpct-sql(1) lists their columns; times are "
		"ns "
		"from the run's origin.\n"
		"A single argument that is a run is RUN. Without QUERY it is read from stdin; on a terminal "
		"SQLite's shell begins.\n"
		"hpct-sql run.hpct \"SELECT key, time_ns FROM stats('1s', '2s', 'module')\"\n"
		"In SQLite: .load libhpct_sql, then SELECT hpct_open('run.hpct').\n",
	.work = work,
};

int main(int argc, char **argv)
{
	return program_main(&program, NULL, argc, argv);
}
