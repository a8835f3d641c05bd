/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_scope.c - which scope of a path stands at the frame's depth. Filters
 * (timeline/profile/frame_filter.h) take scopes out of the path as they take rows out of the profile, so that
 * both show the same (S4 10.10.2 has them in the profile alone).
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/base/glob.h"
#include "tui/timeline/frame.h"

#define NOT_ASKED 0
#define NO_FILTER 1
#define FILTER 2 /* + enum frame_filter_kind */

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

/* From the root down what stays, until the depth is there. NULL: memory is out. */
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
