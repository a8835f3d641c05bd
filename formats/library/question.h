/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.h - each question to a run and its answer as columns: what libhpct gives out, and what the tables
 * of SQL are. The functions are those of hpct_read.h, with a selector that is bound.
 *
 *   stats, profile, blame, gaps, late; streams, contexts, modules, metrics, marks: in one batch, whose last
 *   columns are those of the selector's formulas (answer_formulas.h)
 */
#ifndef FORMATS_QUESTION_H
#define FORMATS_QUESTION_H

#include "formats/library/columns.h"
#include "timeline/report/program.h"

struct question {
	struct program_call *call; /* its run, its bound select, its arena */
	const bool *wanted;	   /* by column of the specs, then of formulas; NULL: all */
	bool is_raw;		   /* of columns_new() */
	const char *word;	   /* the view of a profile, `of` of blame; NULL: the default */
	uint32_t first, last;	   /* of streams and contexts: these alone, half-open; 0, 0: all */
};

struct question_kind {
	const char *name;
	const struct column_spec *specs; /* NULL: they depend on the run; those of the batch hold */
	size_t count;
	unsigned uses;	  /* enum program_use: what metrics and formulas the selector takes */
	bool is_selected; /* the selector is used */
	/* The batch has ended. The errors of the readers. */
	int (*ask)(struct hpct_batch **batch, const struct question *question, struct error *error);
};

extern const struct question_kind question_streams, question_contexts, question_modules, question_metrics,
	question_marks, question_stats, question_profile, question_blame, question_gaps, question_late;

/* The columns of question_profile before those of its metrics, which are two each, inclusive and
 * exclusive; those of formulas follow. */
#define QUESTION_PROFILE_FIXED 8u

/* What --metric may name; before options are set. */
void question_select_take(struct select *select, unsigned uses);

/* ---- for question_*.c ---- */

int question_batch_new(struct hpct_batch **batch, const struct question *question,
	const struct question_kind *kind, struct error *error);
/* Fills the columns of formulas, ends the batch and gives it out, unless something failed: then it is
 * dropped. `question` NULL: without formulas. */
int question_batch_end(struct hpct_batch **given, const struct question *question, struct hpct_batch *batch,
	int rc, struct error *error);
/* The same where numbers of formulas begin at a column, and @n are not the sums of rows; `whole` NULL: they
 * are. */
int question_batch_end_of(struct hpct_batch **given, const struct question *question,
	struct hpct_batch *batch, size_t first, const double *whole, int rc, struct error *error);
/* A word of ours; NULL and "": no value. */
void column_put_word(struct column *column, const char *word);
/* Time from the run's origin, as readers print it. */
void column_put_time(struct column *column, const struct run *run, uint64_t time_ns);
/* The path of a context; no value without a context. */
void column_put_path(struct column *column, const struct run *run, uint32_t context);

#endif
