/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.c - maps sums by scope, as in profiles, to the lines of one file. A path includes a line if
 * it makes a call there (the called scope has it as call site) or ends there.
 */
#include "timeline/profile/source_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/array.h"
#include "timeline/profile/profile_tree.h"

#define NAMED_MAX 4 /* paths in the sentence that asks for more of one */

struct summing {
	struct source_lines *result;
	struct scope_sums sums;
	uint32_t *through; /* of each scope: the nearest one up, itself included, that is called from the file
			    */
	struct key_ids lines;
	union profile_value *values; /* [line][inclusive, exclusive][metric] */
	size_t capacity;
	const char *others[NAMED_MAX];
	size_t other_count;
};

/* ---- which file ---- */

static bool path_ends_with(const char *path, const char *end)
{
	size_t size = strlen(path), end_size = strlen(end);

	return size >= end_size && !strcmp(path + size - end_size, end) &&
	       (size == end_size || path[size - end_size - 1] == '/');
}

/* The whole path beats ends of others. */
static void path_offer(struct summing *at, const char *path, const char *file)
{
	const char *chosen = at->result->path;

	if (path == chosen || !path[0] || (chosen && !strcmp(chosen, file)) || !path_ends_with(path, file))
		return;
	if (!strcmp(path, file))
		at->other_count = 0;
	else if (chosen) {
		for (size_t i = 0; i < at->other_count; i++)
			if (at->others[i] == path)
				return;
		if (at->other_count < NAMED_MAX)
			at->others[at->other_count++] = path;
		return;
	}
	at->result->path = path;
}

static int path_choose(struct summing *at, const char *file, struct error *error)
{
	char named[512] = "";

	for (uint32_t i = 0; i < at->sums.lines.count; i++)
		path_offer(at,
			(const char *)(uintptr_t)((const struct line_key *)key_ids_key(&at->sums.lines, i))
				->file,
			file);
	for (uint32_t scope = 0; scope < at->sums.scope_count; scope++)
		path_offer(at, run_scope(at->sums.run, scope)->call_file, file);
	for (size_t i = 0; i < at->other_count; i++)
		snprintf(named + strlen(named), sizeof(named) - strlen(named), ", %s", at->others[i]);
	return at->other_count ? error_set(error, ERROR_USAGE,
					 "--source %s: several files end so (%s%s): give more of the path",
					 file, at->result->path, named)
			       : 0;
}

/* ---- sums ---- */

static union profile_value *line_values(struct summing *at, uint32_t line)
{
	size_t row = 2 * at->result->profile.metric_count;
	bool is_new;
	uint32_t id = key_ids_put(&at->lines, &line, &is_new);

	if (id == KEY_IDS_NONE || !array_widen(&at->values, &at->capacity, id, row * sizeof *at->values))
		return NULL;
	if (is_new)
		memset(at->values + id * row, 0, row * sizeof *at->values);
	return at->values + id * row;
}

static bool line_add(struct summing *at, uint32_t line, const union profile_value *values, bool is_exclusive,
	bool is_inclusive)
{
	const struct profile *profile = &at->result->profile;
	union profile_value *to;

	if (!line || values_are_zero(values, profile->metric_count))
		return true;
	to = line_values(at, line);
	for (size_t m = 0; to && m < profile->metric_count; m++) {
		if (is_inclusive)
			value_add(&profile->metrics[m], &to[m], values[m]);
		if (is_exclusive)
			value_add(&profile->metrics[m], &to[profile->metric_count + m], values[m]);
	}
	return to != NULL;
}

/* True when the path down to the scope includes the line. */
static bool is_passed(const struct summing *at, uint32_t scope, uint32_t line)
{
	while (scope != PROFILE_TREE_NONE && (scope = at->through[scope]) != PROFILE_TREE_NONE) {
		const struct run_scope *called = run_scope(at->sums.run, scope);

		if (called->call_line == line)
			return true;
		scope = called->parent;
	}
	return false;
}

static bool sum_ends(struct summing *at)
{
	size_t metrics = at->result->profile.metric_count;

	for (uint32_t i = 0; i < at->sums.lines.count; i++) {
		const struct line_key *key = key_ids_key(&at->sums.lines, i);

		if (key->file == (uint64_t)(uintptr_t)at->result->path &&
			!line_add(at, key->line, at->sums.line_values + i * metrics, true,
				!is_passed(at, key->scope, key->line)))
			return false;
	}
	return true;
}

/* A scope's number is larger than its caller's. */
static bool sum_calls(struct summing *at)
{
	size_t metrics = at->result->profile.metric_count;

	for (uint32_t i = 0; i < at->sums.scope_count; i++) {
		const struct run_scope *scope = run_scope(at->sums.run, i);
		bool is_called = scope->call_file == at->result->path && scope->parent != PROFILE_TREE_NONE;

		at->through[i] = is_called			      ? i
				 : scope->parent == PROFILE_TREE_NONE ? PROFILE_TREE_NONE
								      : at->through[scope->parent];
		if (is_called && !is_passed(at, scope->parent, scope->call_line) &&
			!line_add(at, scope->call_line, at->sums.inclusive + i * metrics, false, true))
			return false;
	}
	return true;
}

static int line_compare(const void *left, const void *right)
{
	uint32_t a = ((const struct source_line *)left)->line, b = ((const struct source_line *)right)->line;

	return a < b ? -1 : a > b;
}

static int rows_make(struct summing *at, struct arena *arena, struct error *error)
{
	struct source_lines *result = at->result;
	size_t metrics = result->profile.metric_count, row = 2 * metrics;
	union profile_value *values = arena_calloc(arena, at->lines.count * row + 1, sizeof *values);
	union profile_value *total = arena_calloc(arena, metrics + 1, sizeof *total);

	result->lines = arena_calloc(arena, at->lines.count + 1, sizeof *result->lines);
	if (!values || !total || !result->lines)
		return error_memory(error);
	for (uint32_t i = 0; i < at->sums.scope_count; i++)
		for (size_t m = 0; m < metrics && run_scope(at->sums.run, i)->parent == PROFILE_TREE_NONE;
			m++)
			value_add(
				&result->profile.metrics[m], &total[m], at->sums.inclusive[i * metrics + m]);
	profile_ratios(&result->profile, total, 1);
	profile_ratios(&result->profile, at->values, 2 * (size_t)at->lines.count);
	result->total = total;
	if (at->lines.count)
		memcpy(values, at->values, at->lines.count * row * sizeof *values);
	for (uint32_t i = 0; i < at->lines.count; i++)
		result->lines[i] = (struct source_line){*(const uint32_t *)key_ids_key(&at->lines, i),
			values + i * row, values + i * row + metrics};
	result->count = at->lines.count;
	if (result->count)
		qsort(result->lines, result->count, sizeof *result->lines, line_compare);
	return 0;
}

int source_lines_compute(struct source_lines *lines, struct run *run, const struct select *select,
	const char *file, struct arena *arena, struct error *error)
{
	struct summing at = {.result = lines};
	int rc;

	*lines = (struct source_lines){0};
	key_ids_init(&at.lines, sizeof(uint32_t));
	rc = scope_sums_init(&at.sums, &lines->profile, run, select, arena, error);
	if (rc == 0)
		rc = path_choose(&at, file, error);
	if (rc == 0) {
		at.through = calloc((size_t)at.sums.scope_count + 1, sizeof *at.through);
		if (!at.through || (lines->path && (!sum_calls(&at) || !sum_ends(&at))))
			rc = error_memory(error);
	}
	if (rc == 0)
		rc = rows_make(&at, arena, error);
	free(at.through);
	free(at.values);
	key_ids_fini(&at.lines);
	scope_sums_fini(&at.sums);
	return rc;
}

const struct source_line *source_lines_at(const struct source_lines *lines, uint32_t line)
{
	struct source_line key = {.line = line};

	return lines->count ? bsearch(&key, lines->lines, lines->count, sizeof key, line_compare) : NULL;
}
