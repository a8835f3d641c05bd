/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - what one SQLite connection reads: its runs, each opened once and renewed between statements,
 * and the error of the statement that failed last. One thread, as a connection.
 */
#ifndef FORMATS_SQL_SESSION_H
#define FORMATS_SQL_SESSION_H

#include "timeline/run/run.h"

/* Columns get added at the end without a new version; a rename or another meaning is a new one. */
#define SQL_SCHEMA_VERSION 1

struct sql_texts {
	char **list; /* [number]; NULL: not made yet */
	uint32_t count;
};

struct sql_run {
	struct sql_run *next;
	struct run *run;
	char *place;	  /* its path without links: a run that is named twice is opened once */
	uint64_t renewal; /* of the session, when it was opened or renewed last */
	bool is_lent;	  /* somebody else's, who closes and renews it */
	/* Escaped as in the TSV, made on first use; paths are valid until the run is renewed. */
	struct sql_texts paths, streams, ops, metrics;
	uint32_t *by_text; /* streams in the order of their identities; NULL: not sorted yet */
	uint32_t by_text_count;
};

struct sql_session {
	struct run_options options;
	char *named; /* the run that questions are about unless they name one; NULL: the newest here */
	struct sql_run *chosen; /* the same, once it is open */
	struct sql_run *runs;
	unsigned cursors; /* open ones: no run is renewed meanwhile */
	uint64_t renewal;
	bool is_declaring;  /* SQLite is being told of a table: it authorizes that as if it were made */
	struct error error; /* code 0: none */
};

/* The options' paths must outlive the session. NULL: no memory. */
struct sql_session *sql_session_new(const struct run_options *options);
void sql_session_free(struct sql_session *session);

/* Names the run of all questions that name none; opens it. `path` NULL: the newest. The errors of run_open().
 */
int sql_session_choose(struct sql_session *session, const char *path, struct error *error);
/* The same with an open run, which outlives the session. */
int sql_session_lend(struct sql_session *session, struct run *run, struct error *error);
/* The run at `path`, NULL: the chosen one; owned by the session. At its newest commit if no cursor is open.
 */
int sql_session_run(
	struct sql_session *session, const char *path, struct sql_run **found, struct error *error);

/* The stream of that identity, as escaped in the TSV; UINT32_MAX: none, or no memory. */
uint32_t sql_run_stream(struct sql_run *run, const char *text);
/* A context's path; "" for none. Of a stream, an operation and a metric of the run their names. All last as
 * long as a statement. NULL: no memory. */
const char *sql_run_path(struct sql_run *run, uint32_t context);
const char *sql_run_stream_text(struct sql_run *run, uint32_t stream);
const char *sql_run_op_text(struct sql_run *run, uint32_t op);
const char *sql_run_metric_text(struct sql_run *run, uint32_t metric);

#endif
