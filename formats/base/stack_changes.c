/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_changes.c - the stack of calls that are open, followed from extent to extent: what the next one
 * shares with it goes on, the rest ends, and what is new begins.
 */
#include "formats/base/stack_changes.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/slice/slice.h"

#define BATCH 512

void stack_changes_begin(struct stack_changes *calls, struct run *run, uint32_t depth)
{
	calls->run = run;
	calls->depth = depth;
	calls->open_count = 0;
	calls->end_ns = 0;
}

void stack_changes_fini(struct stack_changes *calls)
{
	free(calls->open);
	free(calls->path);
}

static bool reserve_frames(uint32_t **frames, size_t *capacity, size_t count)
{
	size_t wanted = *capacity ? *capacity * 2 : 256;
	uint32_t *grown;

	while (wanted < count)
		wanted *= 2;
	if (count <= *capacity)
		return true;
	grown = reallocarray(*frames, wanted, sizeof *grown);
	if (!grown)
		return false;
	*frames = grown;
	*capacity = wanted;
	return true;
}

/* What an extent shows besides its calls: nothing for work and for what is not known. */
static bool is_shown_state(enum extent_state state)
{
	return !extent_state_is_busy(state) && state != EXTENT_ABSENT && state != EXTENT_UNKNOWN &&
	       state != EXTENT_IDLE;
}

/* The calls that are open, without a state. */
static size_t open_calls(const struct stack_changes *calls)
{
	size_t count = calls->open_count;

	return count && calls->open[count - 1] >= STACK_STATE ? count - 1 : count;
}

static bool is_where_it_was(const struct stack_changes *calls, const struct extent *extent)
{
	return !extent->context && (extent->state == EXTENT_BLOCKED || extent->state == EXTENT_RUNNABLE) &&
	       calls->end_ns == extent->begin_ns;
}

/* Frames from the root into calls->path; their number, -1: memory is out. */
static long find_path(struct stack_changes *calls, const struct extent *extent)
{
	bool has_calls = extent_state_is_busy(extent->state) || is_shown_state(extent->state);
	bool stays = is_where_it_was(calls, extent);
	uint32_t scope = has_calls ? run_context(calls->run, extent->context)->scope : UINT32_MAX;
	size_t count = stays ? open_calls(calls) : 0, at;

	if (scope != UINT32_MAX)
		scope = run_scope_at(calls->run, scope, calls->depth);
	for (uint32_t up = scope; !stays && up != UINT32_MAX && up != RUN_SCOPE_PROGRAM_ROOT;
		up = run_scope(calls->run, up)->parent)
		count++;
	if (!reserve_frames(&calls->path, &calls->path_capacity, count + 1))
		return -1;
	at = count;
	if (stays && count)
		memcpy(calls->path, calls->open, count * sizeof *calls->path);
	for (uint32_t up = scope; !stays && at > 0; up = run_scope(calls->run, up)->parent)
		calls->path[--at] = up;
	if (is_shown_state(extent->state))
		calls->path[count++] = STACK_STATE + extent->state;
	return (long)count;
}

/* Those that lie `count` deep and deeper have ended. */
static void close_calls(struct stack_changes *calls, size_t count)
{
	while (calls->open_count > count)
		calls->change(calls->own, calls->open[--calls->open_count], calls->end_ns, false);
}

bool stack_changes_add(struct stack_changes *calls, const struct extent *extent)
{
	long count = find_path(calls, extent);
	size_t common = 0;

	if (count < 0 || !reserve_frames(&calls->open, &calls->open_capacity, (size_t)count))
		return false;
	while (calls->end_ns == extent->begin_ns && common < calls->open_count && common < (size_t)count &&
		calls->open[common] == calls->path[common])
		common++;
	close_calls(calls, common);
	while (calls->open_count < (size_t)count) {
		calls->open[calls->open_count] = calls->path[calls->open_count];
		calls->change(calls->own, calls->open[calls->open_count++], extent->begin_ns, true);
	}
	calls->end_ns = extent->end_ns;
	return true;
}

void stack_changes_end(struct stack_changes *calls)
{
	close_calls(calls, 0);
}

/* A sample has no length that --min could speak of. */
static bool is_chosen(const struct select *select, const struct slice_cut *cut, const struct extent *extent)
{
	return (extent->op != STORE_OP_NONE || cut->samples) && select_wants_op(select, extent->op) &&
	       select_wants_context(select, extent->context) &&
	       extent->end_ns - extent->begin_ns >= cut->min_ns;
}

int stack_changes_stream(struct stack_changes *calls, struct run *run, const struct select *select,
	uint32_t stream, struct error *error)
{
	const struct slice_cut cut = slice_cut_of(select);
	struct extent extents[BATCH];
	struct extent_walk *walk;
	bool is_done = true;
	long count = extent_open(&walk, run, stream, select_begin_ns(select), select_end_ns(select), error);

	if (count < 0)
		return (int)count;
	stack_changes_begin(calls, run, select_depth(select));
	while (is_done && (count = extent_next(walk, extents, BATCH, error)) > 0)
		for (long i = 0; i < count && is_done; i++)
			if (is_chosen(select, &cut, &extents[i]))
				is_done = stack_changes_add(calls, &extents[i]);
	extent_close(walk);
	if (!is_done)
		return error_memory(error);
	stack_changes_end(calls);
	return count < 0 ? (int)count : 0;
}
