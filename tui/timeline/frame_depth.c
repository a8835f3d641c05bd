/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_depth.c - projects contexts to the frame's depth: which function a context shows there, and which
 * contexts become one. Filters (timeline/profile/frame_filter.h)
 * remove scopes from the path as they remove rows from the profile, so that both show the same.
 */
#include "tui/timeline/frame.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/base/glob.h"

#define NOT_LOOKED_UP (UINT32_MAX - 1)

static uint32_t filtered(struct frame *frame, uint32_t scope, uint32_t wanted, uint32_t *depth);

/* States of filter_of. */
#define NOT_ASKED 0
#define NO_FILTER 1
#define FILTER 2 /* + enum frame_filter_kind */

/* Numbers of projections are given out in the order in which they are met: one that returns finds its tiles.
 */
static void take_level(struct frame *frame)
{
	struct frame_level_key key = {frame->depth, frame->below, frame->filter_changes,
				       frame->passing_changes},
			       *wider;
	uint32_t at = 0;

	while (at < frame->level_count && memcmp(&frame->levels[at], &key, sizeof(key)) != 0)
		at++;
	frame->level = at + 2; /* after the levels of tile.h */
	if (at < frame->level_count)
		return;
	wider = realloc(frame->levels, (at + 1) * sizeof(*wider));
	if (!wider) {
		frame->levels[at - 1] = key; /* forgets the last one: its tiles are not found again */
		frame->level = frame->level_count++ + 2;
		return;
	}
	wider[at] = key;
	frame->levels = wider;
	frame->level_count = at + 1;
}

static void forget_functions(struct frame *frame)
{
	take_level(frame);
	for (uint32_t i = 0; i < frame->context_count; i++)
		frame->function[i] = NOT_LOOKED_UP;
	if (frame->stand_ins)
		memset(frame->stand_ins, 0, frame->stand_in_count * sizeof(*frame->stand_ins));
}

static void forget_cells(struct frame *frame)
{
	for (uint32_t i = 0; i < frame->stream_count; i++)
		if (frame->lines[i])
			frame->lines[i]->cells_level = frame->lines[i]->chart_level = 0;
}

void frame_set_depth(struct frame *frame, uint32_t depth)
{
	frame->depth = depth;
	forget_functions(frame);
}

void frame_set_below(struct frame *frame, uint32_t below)
{
	if (frame->below == below)
		return;
	frame->below = below;
	forget_functions(frame);
}

void frame_passing_changed(struct frame *frame)
{
	frame->passing_changes++;
	forget_cells(frame);
	forget_functions(frame);
}

uint32_t frame_function(struct frame *frame, uint32_t context, bool *is_shorter)
{
	const struct run_context *c;

	*is_shorter = false;
	if (context >= frame->context_count)
		return UINT32_MAX;
	if (frame->function[context] == NOT_LOOKED_UP) {
		c = run_context(frame->run, context);
		frame->function[context] = UINT32_MAX;
		frame->is_shorter[context] = 0;
		if (c->scope != UINT32_MAX) {
			uint32_t scope = frame_scope(frame, c->scope, is_shorter);
			frame->function[context] = run_scope(frame->run, scope)->function;
			frame->is_shorter[context] = *is_shorter;
		}
	}
	*is_shorter = frame->is_shorter[context];
	return frame->function[context];
}

uint32_t frame_function_above(struct frame *frame, uint32_t context, uint32_t above, bool *is_deep)
{
	uint32_t scope, number, depth;

	if (context >= frame->context_count || run_context(frame->run, context)->scope == UINT32_MAX)
		return UINT32_MAX;
	scope = run_context(frame->run, context)->scope;
	number = run_depth_of(frame->run, scope, frame->depth);
	*is_deep = *is_deep || number > above + 1;
	number = number > above ? number - above : 1;
	scope = frame->filter_count ? filtered(frame, scope, number, &depth)
				    : run_scope_at(frame->run, scope, number);
	return run_scope(frame->run, scope)->function;
}

/* ---- contexts that are one ---- */

/* The place of a key among stand_ins; false when memory is out. */
static bool reach(struct frame *frame, size_t key)
{
	size_t wanted = key + key / 2 + 256;
	uint32_t *wider;

	if (key < frame->stand_in_count)
		return true;
	wider = realloc(frame->stand_ins, wanted * sizeof(*wider));
	if (!wider)
		return false;
	memset(wider + frame->stand_in_count, 0, (wanted - frame->stand_in_count) * sizeof(*wider));
	frame->stand_ins = wider;
	frame->stand_in_count = wanted;
	return true;
}

/* The first context met of its scope at the depth, or the levels below that are drawn: what is above is
 * theirs, too. */
static uint32_t stand_in(void *own, uint32_t context)
{
	struct frame *frame = own;
	const struct run_context *c;
	bool is_shorter;
	size_t key;

	if (!context || context >= frame->context_count)
		return context;
	c = run_context(frame->run, context);
	key = c->scope == UINT32_MAX
		      ? 0
		      : (size_t)frame_scope_below(frame, c->scope, frame->below, &is_shorter) + 1;
	if (c->scope != UINT32_MAX && run_scope(frame->run, c->scope)->depth > frame->deepest_met)
		frame->deepest_met = run_scope(frame->run, c->scope)->depth;
	if (!reach(frame, key))
		return context;
	if (!frame->stand_ins[key])
		frame->stand_ins[key] = context;
	return frame->stand_ins[key];
}

/* Has it about so many records in a column of the frame, or more? */
static bool has_records(const struct frame *frame, uint32_t stream, uint32_t a_column)
{
	const struct store_stream *s = &run_stream(frame->run, stream)->s;
	uint64_t begin_ns = s->begin_ns > frame->begin_ns ? s->begin_ns : frame->begin_ns;
	uint64_t life_ns = run_end_ns(frame->run) - run_begin_ns(frame->run), end_ns = frame->end_ns;
	double records = (double)(s->count[STORE_SAMPLES] + s->count[STORE_SPANS]);

	if (s->end_ns > s->begin_ns && s->end_ns != STORE_OPEN_NS) {
		end_ns = s->end_ns < end_ns ? s->end_ns : end_ns;
		life_ns = s->end_ns - s->begin_ns;
	}
	if (end_ns <= begin_ns || !life_ns)
		return false;
	return records * ((double)(end_ns - begin_ns) / (double)life_ns) >=
	       (double)a_column * frame->columns.count;
}

bool frame_is_dense(const struct frame *frame, uint32_t stream)
{
	return run_sums_rollups(frame->run) && has_records(frame, stream, frame->dense_records);
}

const struct tile_projection *frame_projection(struct frame *frame, uint32_t stream)
{
	frame->projection = (struct tile_projection){.own = frame,
		.stand_in = stand_in,
		.level = frame_level(frame),
		.keeps_leaves = !has_records(frame, stream, frame->rolled_records)};
	return &frame->projection;
}

uint32_t frame_deepest(const struct frame *frame)
{
	uint32_t deepest = frame->deepest_met > 1 ? frame->deepest_met : 1;

	for (uint32_t s = 0; s < frame->stream_count; s++) {
		const struct frame_line *line = frame->lines[s];
		for (uint32_t e = 0; line && !line->level && e < line->first[frame->columns.count]; e++) {
			const struct run_context *c;
			if (line->entries[e].context >= frame->context_count)
				continue;
			c = run_context(frame->run, line->entries[e].context);
			if (c->scope != UINT32_MAX && run_scope(frame->run, c->scope)->depth > deepest)
				deepest = run_scope(frame->run, c->scope)->depth;
		}
	}
	return deepest;
}

/* ---- filters: functions taken out of every path ---- */

void frame_set_filters(
	struct frame *frame, const struct frame_filter_pattern *filters, size_t count, uint32_t changes)
{
	if (frame->filter_changes == changes)
		return;
	frame->filters = filters;
	frame->filter_count = count;
	frame->filter_changes = changes;
	free(frame->filter_of);
	frame->filter_of = NULL;
	frame->filter_functions = 0;
	forget_cells(frame);
	forget_functions(frame);
}

static uint8_t match(const struct frame *frame, uint32_t function)
{
	const char *name = run_function(frame->run, function)->name;

	for (size_t i = 0; i < frame->filter_count; i++)
		if (!frame->filters[i].is_off && glob_match(frame->filters[i].glob, name))
			return (uint8_t)(FILTER + frame->filters[i].kind);
	return NO_FILTER;
}

/* Names are matched once. */
static uint8_t filter_of(struct frame *frame, uint32_t function)
{
	uint32_t count = run_function_count(frame->run);

	if (function >= frame->filter_functions) {
		uint8_t *wider = realloc(frame->filter_of, count);

		if (!wider)
			return match(frame, function);
		memset(wider + frame->filter_functions, NOT_ASKED, count - frame->filter_functions);
		frame->filter_of = wider;
		frame->filter_functions = count;
	}
	if (frame->filter_of[function] == NOT_ASKED)
		frame->filter_of[function] = match(frame, function);
	return frame->filter_of[function];
}

/* The path from the root to the scope. NULL: memory is out. */
static uint32_t *list_path(const struct frame *frame, uint32_t scope, uint32_t *count)
{
	uint32_t *path;

	*count = run_scope(frame->run, scope)->depth + 1;
	path = calloc(*count, sizeof(*path));
	for (uint32_t i = *count; path && i-- > 0; scope = run_scope(frame->run, scope)->parent)
		path[i] = scope;
	return path;
}

static uint32_t filtered(struct frame *frame, uint32_t scope, uint32_t wanted, uint32_t *depth)
{
	uint32_t count, *path = list_path(frame, scope, &count);

	*depth = 0;
	if (!path)
		return scope;
	scope = path[0];
	for (uint32_t i = 1; i < count && *depth < wanted; i++) {
		uint8_t filter = filter_of(frame, run_scope(frame->run, path[i])->function);

		if (filter == FILTER + FRAME_FILTER_SELF)
			continue;
		if (filter == FILTER + FRAME_FILTER_ALL)
			break;
		scope = path[i];
		++*depth;
		if (filter == FILTER + FRAME_FILTER_BELOW)
			break;
	}
	free(path);
	return scope;
}

/* The frame that launched a kernel; the scope itself if it is none. */
static uint32_t launcher(const struct frame *frame, uint32_t scope)
{
	const struct run_scope *s = run_scope(frame->run, scope);

	if (s->depth < 2 || !run_scope_is_kernel(frame->run, scope))
		return scope;
	return run_scope(frame->run, s->parent)->parent;
}

uint32_t frame_scope_below(struct frame *frame, uint32_t scope, uint32_t below, bool *is_shorter)
{
	uint32_t number, depth, launching;

	if (below && run_depth_is_below(frame->depth)) {
		launching = launcher(frame, scope);
		below -= launching != scope;
		scope = launching;
	}
	number = run_depth_of(frame->run, scope, frame->depth) + below;
	if (frame->filter_count) {
		scope = filtered(frame, scope, number, &depth);
	} else {
		scope = run_scope_at(frame->run, scope, number);
		depth = run_scope(frame->run, scope)->depth;
	}
	*is_shorter = depth < number;
	return scope;
}
