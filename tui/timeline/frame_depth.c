/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_depth.c - projects contexts to the frame's depth: which function a context shows there, which
 * contexts become one, and which depth tells most about the lines. Filters (timeline/profile/frame_filter.h)
 * remove scopes from the path as they remove rows from the profile, so that both show the same.
 */
#include "tui/timeline/frame.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/base/glob.h"

#define FRAME_AUTO_MAX 200u /* depth auto looks no deeper: recursion says nothing there */
#define NOT_LOOKED_UP (UINT32_MAX - 1)

/* States of filter_of. */
#define NOT_ASKED 0
#define NO_FILTER 1
#define FILTER 2 /* + enum frame_filter_kind */

void frame_set_depth(struct frame *frame, uint32_t depth)
{
	frame->depth = depth;
	for (uint32_t i = 0; i < frame->context_count; i++)
		frame->function[i] = NOT_LOOKED_UP;
	if (frame->stand_ins)
		memset(frame->stand_ins, 0, frame->stand_in_count * sizeof(*frame->stand_ins));
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

/* The first context met of its function, apart where the path is shorter. */
static uint32_t stand_in(void *own, uint32_t context)
{
	struct frame *frame = own;
	const struct run_context *c;
	bool is_shorter;
	size_t key;

	if (!context || context >= frame->context_count)
		return context;
	key = ((size_t)frame_function(frame, context, &is_shorter) + 1) & UINT32_MAX;
	key = key * 2 + is_shorter;
	c = run_context(frame->run, context);
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

/* ---- the depth that says most ---- */

/* Counts, over the cells of all lines, that rate the frame's depth. */
struct verdict {
	uint64_t busy, dominant; /* cells in which somebody works; those with a dominant context */
	uint64_t code, deep;	 /* blocks of CPU code; those whose path reaches the depth */
};

static void judge_line(struct frame *frame, const struct frame_line *line, struct verdict *verdict)
{
	for (uint32_t column = 0; column < frame->columns.count; column++) {
		struct cell cell = frame_cell(frame, line, column);
		bool has_holder = cell_has_holder(&cell), is_code = has_holder && cell.state == EXTENT_WORK;

		verdict->busy += has_holder || cell.kind == CELL_MIXED;
		verdict->dominant += has_holder;
		verdict->code += is_code;
		verdict->deep += is_code && !cell.is_shorter;
	}
}

/* Lines that there are of this or that depth are read at this one. */
static struct verdict judge_depth(struct frame *frame)
{
	struct verdict verdict = {0};
	const struct frame_line *line;
	struct error error;

	for (uint32_t s = 0; s < frame->stream_count; s++)
		if (frame->lines[s] && !frame_read(frame, s, &line, &error))
			judge_line(frame, line, &verdict);
	return verdict;
}

static bool is_telling(const struct verdict *verdict)
{
	return verdict->busy && verdict->dominant * 4 >= verdict->busy * CELL_AUTO_QUARTERS &&
	       verdict->deep * 8 >= verdict->code * CELL_AUTO_DEEP_EIGHTHS;
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

uint32_t frame_auto_depth(struct frame *frame)
{
	uint32_t low = 1, high = frame_deepest(frame), was = frame->depth;

	if (judge_depth(frame).busy == 0) /* no work: nothing to choose by */
		return was;
	if (high > FRAME_AUTO_MAX)
		high = FRAME_AUTO_MAX;
	/* the deeper, the more functions share a cell: what holds at a depth holds above it, but for
	 * recursion */
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		struct verdict verdict;

		frame_set_depth(frame, middle);
		verdict = judge_depth(frame);
		if (is_telling(&verdict))
			low = middle;
		else
			high = middle - 1;
	}
	frame_set_depth(frame, was);
	return low;
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
	for (uint32_t i = 0; i < frame->stream_count; i++)
		if (frame->lines[i])
			frame->lines[i]->cells_depth = 0;
	frame_set_depth(frame, frame->depth);
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

static uint32_t filtered(struct frame *frame, uint32_t scope, uint32_t *depth)
{
	uint32_t count, *path = list_path(frame, scope, &count);

	*depth = 0;
	if (!path)
		return scope;
	scope = path[0];
	for (uint32_t i = 1; i < count && *depth < frame->depth; i++) {
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

uint32_t frame_scope(struct frame *frame, uint32_t scope, bool *is_shorter)
{
	uint32_t depth;

	if (frame->filter_count) {
		scope = filtered(frame, scope, &depth);
	} else {
		scope = run_scope_at(frame->run, scope, frame->depth);
		depth = run_scope(frame->run, scope)->depth;
	}
	*is_shorter = depth < frame->depth;
	return scope;
}
