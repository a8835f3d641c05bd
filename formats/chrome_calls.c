/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_calls.c - the stack of open calls from extent to extent: calls shared with the next extent
 * continue, the others end, and new ones begin.
 */
#include "formats/chrome_calls.h"

#include <stdlib.h>

#include "store/base/array.h"

#define CALLS_BYTES ((uint64_t)256 << 20) /* of one stream in memory; more go into a file */

/* A call begins before those in it: the order of time, outermost first. */
static int compare(const void *left, const void *right)
{
	const struct chrome_call *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

int chrome_calls_begin(struct chrome_calls *calls, struct run *run, uint32_t depth, struct error *error)
{
	calls->run = run;
	calls->depth = depth;
	calls->open_count = 0;
	external_sort_free(calls->spill);
	return external_sort_new(&calls->spill, sizeof(struct chrome_call), compare,
		run_mem_bytes(run, 2, CALLS_BYTES), error);
}

void chrome_calls_fini(struct chrome_calls *calls)
{
	external_sort_free(calls->spill);
	free(calls->open);
	free(calls->path);
}

/* What an extent shows besides its calls: nothing for work and for what is not known. */
static bool is_shown_state(enum extent_state state)
{
	return state != EXTENT_WORK && state != EXTENT_ABSENT && state != EXTENT_UNKNOWN &&
	       state != EXTENT_IDLE;
}

/* Writes frames from the root into calls->path; returns their number, -1: no memory. */
static long find_path(struct chrome_calls *calls, const struct extent *extent)
{
	bool has_calls = extent->state == EXTENT_WORK || is_shown_state(extent->state);
	uint32_t scope = has_calls ? run_context(calls->run, extent->context)->scope : UINT32_MAX;
	size_t count = 0, at;

	if (scope != UINT32_MAX)
		scope = run_scope_at(calls->run, scope, calls->depth);
	for (uint32_t up = scope; up != UINT32_MAX && up != RUN_SCOPE_PROGRAM_ROOT;
		up = run_scope(calls->run, up)->parent)
		count++;
	if (!array_reserve(&calls->path, &calls->path_capacity, count + 1, sizeof *calls->path))
		return -1;
	at = count;
	for (uint32_t up = scope; at > 0; up = run_scope(calls->run, up)->parent)
		calls->path[--at] = up;
	if (is_shown_state(extent->state))
		calls->path[count++] = CHROME_STATE + extent->state;
	return (long)count;
}

static bool open_call(struct chrome_calls *calls, uint32_t frame, uint64_t begin_ns)
{
	if (!array_reserve(&calls->open, &calls->open_capacity, calls->open_count + 1, sizeof *calls->open))
		return false;
	calls->open[calls->open_count] = (struct chrome_call){.begin_ns = begin_ns,
		.end_ns = begin_ns,
		.frame = frame,
		.depth = (uint32_t)calls->open_count};
	calls->open_count++;
	return true;
}

/* Ends the calls from depth `count` on. */
static int close_calls(struct chrome_calls *calls, size_t count, struct error *error)
{
	int code = 0;

	for (size_t i = count; i < calls->open_count && !code; i++)
		code = external_sort_put(calls->spill, &calls->open[i], error);
	calls->open_count = count;
	return code;
}

int chrome_calls_add(struct chrome_calls *calls, const struct extent *extent, struct error *error)
{
	long count = find_path(calls, extent);
	size_t common = 0;
	int code;

	while (count >= 0 && common < calls->open_count && common < (size_t)count &&
		calls->open[common].frame == calls->path[common] &&
		calls->open[common].end_ns == extent->begin_ns)
		common++;
	code = close_calls(calls, common, error);
	if (code)
		return code;
	for (long i = (long)common; i < count; i++)
		if (!open_call(calls, calls->path[i], extent->begin_ns))
			return error_memory(error);
	for (size_t i = 0; i < calls->open_count; i++)
		calls->open[i].end_ns = extent->end_ns;
	return count >= 0 ? 0 : error_memory(error);
}

int chrome_calls_end(struct chrome_calls *calls, struct error *error)
{
	int code = close_calls(calls, 0, error);

	return code ? code : external_sort_rewind(calls->spill, error);
}

const struct chrome_call *chrome_calls_next(struct chrome_calls *calls, int *code, struct error *error)
{
	return external_sort_next(calls->spill, code, error);
}
