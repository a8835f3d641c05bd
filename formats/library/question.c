/* SPDX-License-Identifier: Apache-2.0 */
/* question.c - what the questions share. */
#include "formats/library/question.h"

#include "formats/library/answer_formulas.h"

void column_put_time(struct column *column, const struct run *run, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(run), since_ns = time_ns > origin_ns ? time_ns - origin_ns : 0;

	column_put_number(column, since_ns < INT64_MAX || column->is_raw ? since_ns : INT64_MAX);
}

void column_put_word(struct column *column, const char *word)
{
	if (word && *word)
		column_put_composed(column, word, strlen(word));
	else
		column_put_none(column);
}

void column_put_path(struct column *column, const struct run *run, uint32_t context)
{
	struct arena arena = {0};
	const char *path;

	if (!column->is_wanted)
		return;
	if (!context || context >= run_context_count(run)) {
		column_put_none(column);
		return;
	}
	path = run_context_path(run, context, UINT32_MAX, &arena);
	column->data.failed |= !path;
	column_put_word(column, path);
	arena_fini(&arena);
}

void question_select_take(struct select *select, unsigned uses)
{
	if (uses & PROGRAM_STATE_METRICS)
		select_take_state_metrics(select);
	if (uses & PROGRAM_GPU)
		select_take_gpu(select);
	if (uses & PROGRAM_FORMULAS)
		select_take_formulas(select);
	if (uses & PROGRAM_ROW_FORMULAS)
		select_take_only_formulas(select);
}

int question_batch_new(struct hpct_batch **batch, const struct question *question,
	const struct question_kind *kind, struct error *error)
{
	const struct program_call *call = question->call;
	size_t count = kind->count;
	struct arena *arena = &question->call->arena;
	const struct column_spec *specs = answer_specs(kind->specs, &count, call->select, arena, error);
	const bool *needed;
	int rc = specs ? answer_wanted(&needed, question->wanted, kind->specs, kind->count, call->select,
				 arena, error)
		       : -ERROR_IO;

	return rc < 0 ? rc : columns_new(batch, specs, count, needed, question->is_raw, error);
}

/* The batch's own columns as specs, for what looks for numbers in them. */
static const struct column_spec *specs_of(
	const struct hpct_batch *batch, size_t own, struct arena *arena, struct error *error)
{
	struct column_spec *specs = arena_calloc(arena, own + 1, sizeof *specs);

	for (size_t i = 0; specs && i < own; i++)
		specs[i] = (struct column_spec){batch->columns[i].shown.name, batch->columns[i].type};
	if (!specs)
		error_memory(error);
	return specs;
}

static int put_formulas(const struct question *question, struct hpct_batch *batch, size_t first,
	const double *whole, struct error *error)
{
	struct arena *arena = &question->call->arena;
	const struct select *select = question->call->select;
	size_t own = batch->column_count - answer_formulas_count(select);
	const struct column_spec *specs = specs_of(batch, own, arena, error);
	struct answer_formulas formulas = {0};
	int rc = specs ? answer_formulas_init(&formulas, select, specs, own, first, NULL, 0, arena, error)
		       : -ERROR_IO;

	if (rc == 0)
		answer_formulas_put(&formulas, batch, whole);
	answer_formulas_fini(&formulas);
	if (rc == 0 && question->wanted)
		columns_show(batch, question->wanted);
	return rc;
}

int question_batch_end_of(struct hpct_batch **given, const struct question *question,
	struct hpct_batch *batch, size_t first, const double *whole, int rc, struct error *error)
{
	if (rc == 0 && question && answer_formulas_count(question->call->select))
		rc = put_formulas(question, batch, first, whole, error);
	rc = rc < 0 ? rc : columns_end(batch, error);
	if (rc < 0)
		columns_drop(batch);
	else
		*given = batch;
	return rc;
}

int question_batch_end(struct hpct_batch **given, const struct question *question, struct hpct_batch *batch,
	int rc, struct error *error)
{
	return question_batch_end_of(given, question, batch, 0, NULL, rc, error);
}
