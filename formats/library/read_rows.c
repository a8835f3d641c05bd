/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_rows.c - the questions of hpct_read.h, and their rows as batches.
 */
#include "formats/library/answer_formulas.h"
#include "formats/library/read.h"

#include <stdlib.h>

/* ---- rows ---- */

static void rows_free(struct hpct_rows *rows)
{
	if (rows->records)
		rows->run->open_rows--;
	record_rows_free(rows->records);
	columns_drop(rows->whole);
	if (rows->call.select)
		select_free(rows->call.select);
	arena_fini(&rows->call.arena);
	read_run_drop(rows->run);
	free(rows);
}

void hpct_rows_free(struct hpct_rows *rows)
{
	if (!rows)
		return;
	read_enter(NULL);
	rows_free(rows);
	read_leave(0, NULL);
}

static struct hpct_rows *rows_new(struct hpct_run *run, struct error *error)
{
	struct hpct_rows *rows = calloc(1, sizeof *rows);

	if (!rows) {
		error_memory(error);
		return NULL;
	}
	rows->run = run;
	run->holders++;
	rows->call = (struct program_call){.format = REPORT_TSV, .run = run->run};
	return rows;
}

/* The specs of the columns that are wanted, in the arena. */
static int keep_specs(struct hpct_rows *rows, const struct column_spec *specs, size_t count,
	const bool *wanted, struct error *error)
{
	struct column_spec *kept = arena_calloc(&rows->call.arena, count + 1, sizeof *kept);

	if (!kept)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (!wanted || wanted[i])
			kept[rows->column_count++] = specs[i];
	rows->specs = kept;
	return 0;
}

/* Of a batch whose columns depend on the run. */
static int keep_shown(struct hpct_rows *rows, struct error *error)
{
	const struct hpct_batch *batch = rows->whole;
	struct column_spec *specs = arena_calloc(&rows->call.arena, batch->column_count + 1, sizeof *specs);

	if (!specs)
		return error_memory(error);
	for (size_t i = 0; i < batch->wanted_count; i++) {
		const char *name = batch->wanted[i]->shown.name;

		specs[i].name = arena_copy(&rows->call.arena, name, strlen(name));
		specs[i].type = batch->wanted[i]->type;
		if (!specs[i].name)
			return error_memory(error);
	}
	rows->specs = specs;
	rows->column_count = batch->wanted_count;
	return 0;
}

int read_rows_of(
	struct hpct_rows **given, struct hpct_run *run, struct hpct_batch *batch, struct error *error)
{
	struct hpct_rows *rows = rows_new(run, error);
	int rc;

	if (!rows) {
		columns_drop(batch);
		return -ERROR_IO;
	}
	rows->whole = batch;
	rc = keep_shown(rows, error);
	if (rc < 0)
		rows_free(rows);
	else
		*given = rows;
	return rc;
}

size_t hpct_rows_columns(const struct hpct_rows *rows)
{
	return rows->column_count;
}

const char *hpct_rows_name(const struct hpct_rows *rows, size_t column)
{
	return column < rows->column_count ? rows->specs[column].name : NULL;
}

enum hpct_type hpct_rows_type(const struct hpct_rows *rows, size_t column)
{
	return column < rows->column_count ? rows->specs[column].type : HPCT_TEXT;
}

int hpct_next(struct hpct_rows *rows, size_t most, struct hpct_batch **batch, struct hpct_error *error)
{
	struct error *why = (struct error *)error;
	int rc = 0;

	read_enter(rows->run);
	if (rows->records) {
		rc = record_rows_next(rows->records, most, batch, why);
	} else if (rows->whole) {
		*batch = rows->whole;
		rows->whole = NULL;
		rc = 1;
	}
	return read_leave(rc, why);
}

size_t hpct_batch_rows(const struct hpct_batch *batch)
{
	return batch->row_count;
}

size_t hpct_batch_columns(const struct hpct_batch *batch)
{
	return batch->wanted_count;
}

const struct hpct_column *hpct_column(const struct hpct_batch *batch, size_t column)
{
	return column < batch->wanted_count ? &batch->wanted[column]->shown : NULL;
}

void hpct_batch_free(struct hpct_batch *batch)
{
	columns_drop(batch);
}

/* ---- records ---- */

static int find_track(enum store_track *track, const char *word, struct error *error)
{
	for (int i = 0; i < STORE_TRACK_COUNT; i++)
		if (strcmp(word, store_track_name((enum store_track)i)) == 0) {
			*track = (enum store_track)i;
			return 0;
		}
	return error_set(error, ERROR_USAGE, "there is no track '%s'; say samples, spans or values", word);
}

static int records_open(
	struct hpct_rows *rows, const struct hpct_select *select, const char *word, struct error *error)
{
	enum store_track track = STORE_SAMPLES;
	const struct column_spec *specs;
	const bool *wanted;
	size_t count;
	int rc = find_track(&track, word, error);

	if (rc < 0)
		return rc;
	specs = record_rows_specs(track, &count);
	rc = read_select_bind(&rows->call, select, PROGRAM_FORMULAS, error);
	if (rc == 0)
		rc = select_refuse(rows->call.select, "by top", "records", error);
	if (rc == 0) {
		specs = answer_specs(specs, &count, rows->call.select, &rows->call.arena, error);
		rc = specs ? 0 : -ERROR_IO;
	}
	if (rc == 0)
		rc = read_select_wanted(&wanted, select, word, specs, count, &rows->call.arena, error);
	if (rc == 0)
		rc = keep_specs(rows, specs, count, wanted, error);
	if (rc == 0)
		rc = record_rows_new(&rows->records, rows->call.run, rows->call.select, track, wanted, error);
	rows->run->open_rows += rc == 0;
	return rc;
}

/* ---- questions ---- */

static int question_open(struct hpct_rows *rows, const struct hpct_select *select,
	const struct question_kind *kind, const char *word, struct error *error)
{
	struct question question = {.call = &rows->call, .word = word};
	const struct column_spec *specs = kind->specs;
	size_t count = kind->count;
	int rc = 0;

	if (kind->is_selected || (select && select->words))
		rc = read_select_bind(&rows->call, select, kind->uses, error);
	if (rc == 0 && specs) {
		specs = answer_specs(specs, &count, rows->call.select, &rows->call.arena, error);
		rc = specs ? read_select_wanted(&question.wanted, select, kind->name, specs, count,
				     &rows->call.arena, error)
			   : -ERROR_IO;
	}
	if (rc == 0)
		rc = kind->ask(&rows->whole, &question, error);
	if (rc == 0)
		rc = keep_shown(rows, error);
	return rc == 0 ? run_names_check(rows->call.run, error) : rc;
}

/* `kind` NULL: the records of the track `word`. */
static int ask(struct hpct_run *run, const struct hpct_select *select, const struct question_kind *kind,
	const char *word, struct hpct_rows **given, struct hpct_error *error)
{
	struct error *why = (struct error *)error;
	struct hpct_rows *rows;
	int rc = -ERROR_IO;

	read_enter(run);
	rows = rows_new(run, why);
	if (rows && kind)
		rc = question_open(rows, select, kind, word, why);
	else if (rows)
		rc = records_open(rows, select, word, why);
	rc = read_leave(rc, why);
	if (rc == 0)
		*given = rows;
	else
		hpct_rows_free(rows);
	return rc;
}

int hpct_records(struct hpct_run *run, const struct hpct_select *select, const char *track,
	struct hpct_rows **rows, struct hpct_error *error)
{
	return ask(run, select, NULL, track, rows, error);
}

int hpct_profile(struct hpct_run *run, const struct hpct_select *select, const char *view,
	struct hpct_rows **rows, struct hpct_error *error)
{
	return ask(run, select, &question_profile, view, rows, error);
}

int hpct_blame(struct hpct_run *run, const struct hpct_select *select, const char *of,
	struct hpct_rows **rows, struct hpct_error *error)
{
	return ask(run, select, &question_blame, of, rows, error);
}

#define QUESTION(name)                                                                                   \
	int hpct_##name(struct hpct_run *run, const struct hpct_select *select, struct hpct_rows **rows, \
		struct hpct_error *error)                                                                \
	{                                                                                                \
		return ask(run, select, &question_##name, NULL, rows, error);                            \
	}
QUESTION(stats)
QUESTION(gaps)
QUESTION(late)
QUESTION(streams)
QUESTION(contexts)
QUESTION(modules)
QUESTION(metrics)
QUESTION(marks)
