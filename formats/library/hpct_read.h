/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpct_read.h - libhpct: questions to a recorded run, or to one that is being recorded, answered as columns.
 *
 *	struct hpct_error error;
 *	struct hpct_run *run;
 *	struct hpct_select *select;
 *	struct hpct_rows *rows;
 *	struct hpct_batch *batch;
 *
 *	if (hpct_open(&run, "run.hpct", NULL, &error) < 0)
 *		errx(-error.code, "%s", error.text);
 *	hpct_select_new(&select, &error);
 *	hpct_select_set(select, "time", "1s..2s", &error);
 *	hpct_stats(run, select, &rows, &error);          where the time of that second went
 *	while (hpct_next(rows, 0, &batch, &error) > 0) {
 *		const struct hpct_column *key = hpct_column(batch, 0), *time = hpct_column(batch, 1);
 *		...
 *		hpct_batch_free(batch);
 *	}
 *	hpct_rows_free(rows);
 *	hpct_select_free(select);
 *	hpct_close(run);
 *
 * Each question gives rows of named columns: those of the reader that answers the same (hpct-stats(1) and so
 * on) and of the SQL table of that name (hpct-sql(1)); new columns come at the end. Moments are ns from the
 * run's origin. Texts are UTF-8 and escaped as in the TSV (tab, newline, backslash, control bytes; in a frame
 * ';', in an attribute ',' and '='); bytes that are not UTF-8 are \xHH.
 *
 * ERRORS. Functions that can fail return 0 or a negative code (enum hpct_code) and put one sentence for
 * people into *error, which may be NULL. Nothing is printed, no signal handler is installed, the process
 * never exits. Results are set only on success.
 *
 * THREADS. Any thread may call; calls take turns behind one lock. hpct_batch_free(), and reading a batch,
 * take none. A select is one thread's. Sums of many streams may fork short-lived processes (`jobs`): only if
 * the process has one thread when the run is opened.
 *
 * OWNERSHIP. What a function gives is freed by the function named with it; the order does not matter: rows
 * keep their run alive, batches stand alone. NULL may be freed.
 *
 * FILES. The run's files are mapped. If another process truncates one meanwhile, reading it raises SIGBUS, as
 * with any mapped file; to remove a run, or to record into it, is no trouble.
 */
#ifndef HPCT_READ_H
#define HPCT_READ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each addition; hpct_read_version() is the library's. */
#define HPCT_READ_VERSION 1
#define HPCT_API __attribute__((visibility("default")))

HPCT_API int hpct_read_version(void);
HPCT_API const char *hpct_release(void); /* "0.1.0" */

/* The exit codes of the readers, negated where they are returned. */
enum hpct_code {
	HPCT_USAGE = 2, /* a wrong question */
	HPCT_EMPTY = 3, /* no stream matched, or no monitored time in the window */
	HPCT_RUN = 4,	/* the run is missing, damaged or too new */
	HPCT_IO = 5,	/* I/O or memory failure */
	HPCT_INTERRUPTED = 6
};

struct hpct_error {
	int code;	 /* enum hpct_code */
	char text[1024]; /* what, where, what to do */
};

/* ---- a run ---- */

struct hpct_run;

/* How to read; all-zero but size_bytes is the default, as is NULL. Texts are copied. */
struct hpct_open_options {
	size_t size_bytes;	 /* sizeof(struct hpct_open_options) */
	const char *debug_paths; /* where binaries and debug information are, separated by ':' */
	const char *python;	 /* frames of Python: "mixed" (default), "native", "only" */
	int debuginfod;		 /* query the servers of DEBUGINFOD_URLS */
	int runtime_frames;	 /* show frames of OpenMP's runtimes */
	int no_rollups;		 /* sum records only: the same answers at a higher cost */
	int no_cache;		 /* neither read nor write the run's cache of names */
	unsigned jobs;		 /* processes that sum; 0: as many as pay off; 1 where there are threads */
	uint64_t mem_bytes;	 /* memory of a question; 0: best for each */
	int has_interrupt;	 /* interrupt_fd is given */
	int interrupt_fd; /* when it can be read from, a question that takes long fails with HPCT_INTERRUPTED.
			     Nothing is taken out of it; the caller's, open as long as the run */
	int interrupt_byte; /* of a socket: only if this byte, not 0, is among those waiting, as a signal's
			       number is that signal.set_wakeup_fd() of Python writes; 0: any */
};

/* `path` NULL: the newest *.hpct of the current directory. */
HPCT_API int hpct_open(struct hpct_run **run, const char *path, const struct hpct_open_options *options,
	struct hpct_error *error);
HPCT_API void hpct_close(struct hpct_run *run);

/* Moves to what has been recorded since; *changed (may be NULL): 1 if there is more. Without effect while
 * rows of this run are open. Until then each question sees the same records. */
HPCT_API int hpct_renew(struct hpct_run *run, int *changed, struct hpct_error *error);

struct hpct_facts {
	size_t size_bytes;	  /* set by the caller to sizeof(struct hpct_facts) */
	const char *path;	  /* the run's directory; valid until the run is closed */
	uint64_t origin_ns;	  /* CLOCK_MONOTONIC of moment 0 */
	uint64_t wall_ns;	  /* CLOCK_REALTIME of it, 0: unknown */
	int64_t begin_ns, end_ns; /* of the records */
	uint64_t bytes;
	uint32_t stream_count, context_count;
	int is_live; /* it is being recorded */
};
HPCT_API int hpct_facts(struct hpct_run *run, struct hpct_facts *facts, struct hpct_error *error);

/* ---- what is asked about ---- */

struct hpct_select;

/* Selects everything; hpct_select_free(). */
HPCT_API int hpct_select_new(struct hpct_select **select, struct hpct_error *error);
HPCT_API void hpct_select_free(struct hpct_select *select);

/* Sets an option as the readers have it on their command lines: time streams context op metric min depth by
 * top. It is understood by each question anew, since what it means depends on the run: so errors in values
 * come from the question. HPCT_USAGE: no such option.
 *
 * "metric" may be a formula, "waste = $2 * 4 - $1", or the name of one that is kept (hpct(1), Formulas): of
 * sums, blame and records each adds a column of that name, REAL, behind the others. Several are set one after
 * another, or at once with semicolons between them, and metrics' names among them. Without a value is what is
 * not defined; moments beyond 2^63 count as that. */
HPCT_API int hpct_select_set(
	struct hpct_select *select, const char *name, const char *value, struct hpct_error *error);
/* The columns to be made, separated by blanks or commas, in the order of the table; others cost nothing.
 * NULL: all, as without this call. */
HPCT_API int hpct_select_columns(struct hpct_select *select, const char *names, struct hpct_error *error);

/* ---- rows ---- */

enum hpct_type {
	HPCT_INT64,  /* int64_t: moments */
	HPCT_UINT64, /* uint64_t: ns, bytes, counts */
	HPCT_UINT32,
	HPCT_REAL,  /* double */
	HPCT_TEXT,  /* bytes of all rows, offsets[row] to offsets[row + 1] are one */
	HPCT_CHOICE /* int32_t: a row of `choices`; of no value 0 */
};

/* Of a batch. */
struct hpct_column {
	const char *name;
	enum hpct_type type;
	const void *data;
	const int64_t *offsets;		   /* TEXT: one more than rows */
	const uint8_t *valid;		   /* bit i % 8 of byte i / 8: row i has a value; NULL: all have */
	const struct hpct_column *choices; /* CHOICE: of TEXT */
	size_t choice_count;
	size_t none_count; /* rows without a value */
};

struct hpct_rows;
struct hpct_batch;

/* The columns that batches will have. The name lives as long as the rows; NULL: there are fewer. */
HPCT_API size_t hpct_rows_columns(const struct hpct_rows *rows);
HPCT_API const char *hpct_rows_name(const struct hpct_rows *rows, size_t column);
HPCT_API enum hpct_type hpct_rows_type(const struct hpct_rows *rows, size_t column);

/* The next rows, about `most` (0: all that are left): 1, 0 at the end, negative: error. hpct_batch_free(). Of
 * no rows there is one batch without rows, so that its columns are known. */
HPCT_API int hpct_next(
	struct hpct_rows *rows, size_t most, struct hpct_batch **batch, struct hpct_error *error);
HPCT_API void hpct_rows_free(struct hpct_rows *rows);

HPCT_API size_t hpct_batch_rows(const struct hpct_batch *batch);
HPCT_API size_t hpct_batch_columns(const struct hpct_batch *batch);
/* Valid as long as the batch; NULL: there are fewer. */
HPCT_API const struct hpct_column *hpct_column(const struct hpct_batch *batch, size_t column);
HPCT_API void hpct_batch_free(struct hpct_batch *batch);

/* ---- questions: `select` NULL is everything; each gives rows, hpct_rows_free() ---- */

/* The records of a track, "samples", "spans" or "values": those of hpct-slice with these options, one stream
 * after another, each in the order of time.
 *	samples  stream begin_ns path weight metric context
 *	spans    stream begin_ns end_ns path op bytes weight attributes context link
 *	values   stream begin_ns path metric value context
 * `value` is REAL, other amounts are UINT64; metric values of whole numbers beyond 2^53 are rounded. */
HPCT_API int hpct_records(struct hpct_run *run, const struct hpct_select *select, const char *track,
	struct hpct_rows **rows, struct hpct_error *error);

/* Sums of the window: of time by key; of weights by call path (`view` NULL or "top-down", "bottom-up",
 * "flat"). */
HPCT_API int hpct_stats(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_profile(struct hpct_run *run, const struct hpct_select *select, const char *view,
	struct hpct_rows **rows, struct hpct_error *error);

/* Who is to blame (`of` NULL: "gpu-idle"; else as hpct-blame --of has it), gaps in which GPUs are idle, who
 * came last. */
HPCT_API int hpct_blame(struct hpct_run *run, const struct hpct_select *select, const char *of,
	struct hpct_rows **rows, struct hpct_error *error);
HPCT_API int hpct_gaps(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_late(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);

/* Names: what the run is made of. Of contexts, whose paths may be long, choose columns; "context" selects
 * those of a pattern. `streams` and `metrics` look at "streams", `modules` and `marks` at no option. */
HPCT_API int hpct_streams(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_contexts(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_modules(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_metrics(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);
HPCT_API int hpct_marks(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows,
	struct hpct_error *error);

/* The rows of a statement in SQL that reads, about the tables of hpct-sql(1); columns are INT64, REAL or TEXT
 * as their values are, and bytes that are no text are \xHH. The whole answer is in memory. HPCT_USAGE: what
 * SQLite says; also where libhpct was built without SQLite. */
HPCT_API int hpct_sql(
	struct hpct_run *run, const char *query, struct hpct_rows **rows, struct hpct_error *error);

/* ---- Arrow's C data interface: the same memory, no copy ---- */

struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

/* The rows as a stream of batches of about `most` rows (0: 65536): a moment is int64, TEXT large_utf8, CHOICE
 * a dictionary of its batch. The stream owns the rows from now on, also after a failure, and its users
 * release it. */
HPCT_API int hpct_rows_export(
	struct hpct_rows *rows, size_t most, struct ArrowArrayStream *stream, struct hpct_error *error);
/* One batch, by itself or as a stream; it stays the caller's, too. */
HPCT_API int hpct_batch_stream(
	struct hpct_batch *batch, struct ArrowArrayStream *stream, struct hpct_error *error);
HPCT_API int hpct_batch_export(struct hpct_batch *batch, struct ArrowArray *array, struct ArrowSchema *schema,
	struct hpct_error *error);

#ifdef __cplusplus
}
#endif

#endif
