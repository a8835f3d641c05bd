/* SPDX-License-Identifier: Apache-2.0 */
/* source_extents.c - see source_extents.h. A function's lines are those sampled in it and those of its
 * calls. */
#include "timeline/profile/source_extents.h"

#include <stdlib.h>
#include <string.h>

static void extent_pass(
	struct source_extent *extent, const struct run_function *function, const char *file, uint32_t line)
{
	if (!line || strcmp(file, function->file) != 0)
		return;
	extent->first = !extent->first || line < extent->first ? line : extent->first;
	extent->last = line > extent->last ? line : extent->last;
}

static int extent_compare(const void *left, const void *right)
{
	const struct source_extent *a = left, *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->last < b->last ? -1 : a->last > b->last;
}

/* Contexts are asked first: scopes and functions are made by that. */
static bool is_of_file(const struct run *run, uint32_t function, const char *path)
{
	return function != UINT32_MAX && !strcmp(run_function(run, function)->file, path);
}

static void contexts_pass(const struct run *run, const char *path, struct source_extent *extents)
{
	for (uint32_t i = 1; i < run_context_count(run); i++) {
		const struct run_context *context = run_context(run, i);
		uint32_t function =
			context->scope == UINT32_MAX ? UINT32_MAX : run_scope(run, context->scope)->function;

		if (is_of_file(run, function, path))
			extent_pass(&extents[function], run_function(run, function), context->file,
				context->line);
	}
}

static void scopes_pass(const struct run *run, const char *path, struct source_extent *extents)
{
	for (uint32_t i = 0; i < run_scope_count(run); i++) {
		const struct run_scope *scope = run_scope(run, i);
		uint32_t function =
			scope->parent == UINT32_MAX ? UINT32_MAX : run_scope(run, scope->parent)->function;

		if (is_of_file(run, function, path))
			extent_pass(&extents[function], run_function(run, function), scope->call_file,
				scope->call_line);
	}
}

int source_extents(const struct run *run, const char *path, struct source_extent **out, size_t *count)
{
	struct source_extent *extents;
	uint32_t functions;

	*out = NULL;
	*count = 0;
	for (uint32_t i = 1; i < run_context_count(run); i++)
		run_context(run, i);
	functions = run_function_count(run);
	extents = calloc((size_t)functions + 1, sizeof *extents);
	if (!extents)
		return -1;
	for (uint32_t i = 0; i < functions; i++)
		if (is_of_file(run, i, path))
			extents[i].first = extents[i].last = run_function(run, i)->line;
	contexts_pass(run, path, extents);
	scopes_pass(run, path, extents);
	for (uint32_t i = 0; i < functions; i++)
		if (extents[i].first) {
			extents[*count] = extents[i];
			extents[(*count)++].name = run_function(run, i)->name;
		}
	if (*count)
		qsort(extents, *count, sizeof *extents, extent_compare);
	*out = extents;
	return 0;
}

const struct source_extent *source_extent_at(const struct source_extent *extents, size_t count, uint32_t line)
{
	const struct source_extent *found = NULL;

	for (size_t i = 0; i < count && extents[i].first <= line; i++)
		if (line <= extents[i].last)
			found = &extents[i];
	return found;
}
