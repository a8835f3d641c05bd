/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_sums.c - sums of a window, from rollups as hpct-stats and hpct-profile make them.
 */
#include "formats/library/answer_formulas.h"
#include "formats/library/question.h"
#include "timeline/profile/profile.h"
#include "timeline/report/coverage.h"
#include "timeline/stats/stats_ask.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- stats: the columns of hpct-stats, and what a row is ---- */

static const struct column_spec stats_specs[] = {{"key", HPCT_TEXT}, {"time_ns", HPCT_UINT64},
	{"percent", HPCT_REAL}, {"records", HPCT_UINT64}, {"state", HPCT_TEXT}, {"context", HPCT_UINT32}};

static void put_stats(struct column *c, const struct stats *stats, const struct stats_row *row)
{
	column_put_composed(
		&c[0], row->key, strlen(row->key)); /* the path of the root is empty, not unknown */
	column_put_number(&c[1], row->time_ns);
	column_put_real(&c[2], 100.0 * (double)row->time_ns / (double)stats->total_ns);
	column_put_number(&c[3], row->records);
	column_put_word(&c[4], extent_state_name(row->state));
	column_put_optional(&c[5], row->context, row->context != 0);
}

static int ask_stats(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	struct hpct_batch *batch;
	struct stats stats;
	double whole[STATS_NUMBERS] = {0};
	int rc = question_batch_new(&batch, question, &question_stats, error);

	if (rc < 0)
		return rc;
	rc = stats_ask(&stats, call->run, call->select, false, &call->arena, error);
	for (size_t i = 0; rc == 0 && i < stats.count && i < select_top(call->select); i++)
		put_stats(batch->columns, &stats, &stats.rows[i]);
	if (rc == 0)
		stats_whole(&stats, whole);
	return question_batch_end_of(given, question, batch, 0, whole, rc, error);
}

const struct question_kind question_stats = {.name = "stats",
	.specs = stats_specs,
	.count = COUNT(stats_specs),
	.uses = PROGRAM_STATE_METRICS | PROGRAM_FORMULAS,
	.is_selected = true,
	.ask = ask_stats};

/* ---- profile: a row for each node, two columns for each metric, one for each formula ---- */

static const struct column_spec profile_specs[QUESTION_PROFILE_FIXED] = {{"depth", HPCT_UINT32},
	{"id", HPCT_UINT32}, {"parent", HPCT_UINT32}, {"kind", HPCT_TEXT}, {"name", HPCT_TEXT},
	{"module", HPCT_TEXT}, {"file", HPCT_TEXT}, {"line", HPCT_UINT32}};

static int profile_of(struct profile *profile, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	int view = question->word ? profile_view_find(question->word) : PROFILE_TOP_DOWN, rc;

	if (view < 0)
		return error_set(
			error, ERROR_USAGE, "view '%s': say top-down, bottom-up or flat", question->word);
	rc = coverage_require(call->run, call->select, error);
	if (rc == 0 && select_state_metrics(call->select))
		rc = select_require_sums(call->select, error);
	if (rc == 0)
		rc = profile_compute(
			profile, call->run, call->select, (enum profile_view)view, &call->arena, error);
	return rc;
}

/* All columns, of the call's arena. */
static const struct column_spec *specs_of(
	const struct profile *profile, size_t *count, struct arena *arena, struct error *error)
{
	struct column_spec *specs;

	*count = QUESTION_PROFILE_FIXED + 2 * profile->metric_count;
	specs = arena_calloc(arena, *count, sizeof *specs);
	if (specs)
		memcpy(specs, profile_specs, sizeof profile_specs);
	for (size_t i = QUESTION_PROFILE_FIXED; specs && i < *count; i++) {
		const struct profile_metric *metric = &profile->metrics[(i - QUESTION_PROFILE_FIXED) / 2];

		specs[i].type = metric->is_real ? HPCT_REAL : HPCT_UINT64;
		specs[i].name = arena_printf(arena, "%s:%s", metric->name, i % 2 ? "excl" : "incl");
		if (!specs[i].name)
			specs = NULL;
	}
	if (!specs)
		error_memory(error);
	return specs;
}

static void put_amount(struct column *column, const union profile_value *value)
{
	if (column->type == HPCT_REAL)
		column_put_real(column, value->real);
	else
		column_put_number(column, value->number);
}

static void put_node(struct column *c, const struct profile *profile, size_t number)
{
	const struct profile_row *row = &profile->rows[number];

	column_put_number(&c[0], row->depth);
	column_put_number(&c[1], number);
	column_put_optional(&c[2], row->parent, row->parent != UINT32_MAX);
	column_put_word(&c[3], profile_kind_name(row->kind));
	column_put_field(&c[4], row->name, row->name_bytes);
	column_put_string(&c[5], row->module);
	column_put_string(&c[6], row->file);
	column_put_optional(&c[7], row->line, row->line != 0);
	for (size_t m = 0; m < profile->metric_count; m++) {
		put_amount(&c[QUESTION_PROFILE_FIXED + 2 * m], &row->inclusive[m]);
		put_amount(&c[QUESTION_PROFILE_FIXED + 2 * m + 1], &row->exclusive[m]);
	}
}

/* What @ of a formula stands for: the root's. NULL: no memory. */
static const double *root_of(const struct profile *profile, struct arena *arena, struct error *error)
{
	double *whole = arena_calloc(arena, 2 * profile->metric_count + 1, sizeof *whole);

	for (size_t i = 0; whole && profile->count && i < 2 * profile->metric_count; i++) {
		const struct profile_row *root = &profile->rows[0];
		union profile_value value = (i % 2 ? root->exclusive : root->inclusive)[i / 2];

		whole[i] = profile_value_real(&profile->metrics[i / 2], value);
	}
	if (!whole)
		error_memory(error);
	return whole;
}

static int ask_profile(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct profile profile = {0};
	const struct column_spec *specs;
	struct hpct_batch *batch;
	const double *whole;
	struct arena *arena = &question->call->arena;
	size_t count;
	int rc = profile_of(&profile, question, error);

	if (rc < 0)
		return rc;
	whole = root_of(&profile, arena, error);
	specs = specs_of(&profile, &count, arena, error);
	if (specs)
		specs = answer_specs(specs, &count, question->call->select, arena, error);
	if (!specs || !whole)
		return -ERROR_IO;
	rc = columns_new(&batch, specs, count, question->wanted, question->is_raw, error);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < profile.count && i < select_top(question->call->select); i++)
		put_node(batch->columns, &profile, i);
	return question_batch_end_of(given, question, batch, QUESTION_PROFILE_FIXED, whole, rc, error);
}

const struct question_kind question_profile = {.name = "profile",
	.uses = PROGRAM_STATE_METRICS | PROGRAM_GPU | PROGRAM_FORMULAS,
	.is_selected = true,
	.ask = ask_profile};
