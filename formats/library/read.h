/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - a run, a selector and rows as the library's callers hold them. For read_*.c.
 *
 *   hpct_run <--holds-- hpct_rows: one batch that was made at once, or the records of a scan
 */
#ifndef FORMATS_READ_H
#define FORMATS_READ_H

#include "formats/library/question.h"
#include "formats/library/record_rows.h"

struct hpct_run {
	struct run *run;
	char *debug_paths; /* cut at ':' */
	const char **debug_path_list;
	unsigned holders;   /* the caller and its rows */
	unsigned open_rows; /* that read records: no renewal meanwhile */
	bool has_interrupt;
	int interrupt_fd, interrupt_byte;
};

struct select_word {
	struct select_word *next;
	char *name, *value;
};

struct hpct_select {
	struct select_word *words; /* in order */
	char *columns;		   /* NULL: all */
};

struct hpct_rows {
	struct hpct_run *run;
	struct program_call call;	 /* its select and arena live as long as the rows */
	const struct column_spec *specs; /* of the wanted columns */
	size_t column_count;
	struct hpct_batch *whole; /* until it is given out; NULL: of records */
	struct record_rows *records;
};

/* ---- one at a time ---- */

/* Begins a call: the others wait until it leaves. `run` NULL: of none. */
void read_enter(const struct hpct_run *run);
/* Ends it, and gives rc; a question that was stopped says so in *error, whatever its readers made of it. */
int read_leave(int rc, struct error *error);

/* ---- with the lock ---- */

/* The caller wants no answer any more. For what is not the readers' work, which look by themselves. */
bool read_is_interrupted(const struct hpct_run *run);
/* Rows of a batch that was made already, which they own, also after a failure. */
int read_rows_of(
	struct hpct_rows **rows, struct hpct_run *run, struct hpct_batch *batch, struct error *error);

void read_run_drop(struct hpct_run *run);
/* A bound selector, in `call`, whose run is set. */
int read_select_bind(
	struct program_call *call, const struct hpct_select *select, unsigned uses, struct error *error);
/* Which of these columns are wanted, in `arena`; *wanted NULL: all. ERROR_USAGE names one that is not there.
 */
int read_select_wanted(const bool **wanted, const struct hpct_select *select, const char *question,
	const struct column_spec *specs, size_t count, struct arena *arena, struct error *error);

#endif
