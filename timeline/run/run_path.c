/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_path.c - a context's path as in every table (design, Output): frames from the root joined by ';',
 * escaped, without the program's root.
 */
#include <stdlib.h>

#include "timeline/base/escape.h"
#include "timeline/run/run_internal.h"

/* Scopes from `scope` up to the root in `scopes` (NULL: only counted). */
static uint32_t climb(const struct run *run, uint32_t scope, uint32_t *scopes)
{
	uint32_t count = 0;

	for (; scope != INTERN_TABLE_NONE && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(run, scope)->parent) {
		if (scopes)
			scopes[count] = scope;
		count++;
	}
	return count;
}

char *run_context_path(const struct run *run, uint32_t context, uint32_t depth, struct arena *arena)
{
	uint32_t scope = run_scope_at(run, run_context(run, context)->scope, depth);
	uint32_t count = climb(run, scope, NULL);
	uint32_t *scopes = malloc(((size_t)count + 1) * sizeof *scopes);
	struct store_bytes path = {0};
	char *copy = NULL;

	if (!scopes)
		return NULL;
	climb(run, scope, scopes);
	for (uint32_t i = count; i-- > 0;) {
		const struct run_function *function = run_function(run, run_scope(run, scopes[i])->function);

		escape_frame(&path, function->name, function->name_bytes);
		if (i)
			store_bytes_put(&path, ";", 1);
	}
	if (!path.failed)
		copy = arena_copy(arena, (const char *)path.data, path.size);
	store_bytes_fini(&path);
	free(scopes);
	return copy;
}
