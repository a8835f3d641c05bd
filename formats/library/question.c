/* SPDX-License-Identifier: Apache-2.0 */
/* question.c - what the questions share. */
#include "formats/library/question.h"

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

int question_batch_new(struct hpct_batch **batch, const struct question *question,
	const struct question_kind *kind, struct error *error)
{
	return columns_new(batch, kind->specs, kind->count, question->wanted, question->is_raw, error);
}

int question_batch_end(struct hpct_batch **given, struct hpct_batch *batch, int rc, struct error *error)
{
	rc = rc < 0 ? rc : columns_end(batch, error);
	if (rc < 0)
		columns_drop(batch);
	else
		*given = batch;
	return rc;
}
