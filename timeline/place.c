/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h: walks the scopes up to the depth, the call site of each becoming the position. */
#include "timeline/place.h"

#include <stdio.h>
#include <string.h>

#include "store/arena.h"
#include "timeline/escape.h"

struct place place_of(const struct run *run, uint32_t context_id, uint32_t depth)
{
	const struct run_context *context = run_context(run, context_id);
	struct place place = {UINT32_MAX, context->file, context->line};
	uint32_t scope = context->scope, target;

	if (scope == UINT32_MAX)
		return place;
	target = run_scope_at(run, scope, depth);
	while (scope != target) {
		const struct run_scope *inner = run_scope(run, scope);

		place.file = inner->call_file;
		place.line = inner->call_line;
		scope = inner->parent;
	}
	place.function = run_scope(run, scope)->function;
	return place;
}

static void put_text(struct store_bytes *out, const char *text)
{
	escape_field(out, text, strlen(text));
}

static void put_line(struct store_bytes *out, const struct place *place)
{
	char number[16];

	if (!place->file || !place->file[0]) {
		put_text(out, "<unknown line>");
		return;
	}
	put_text(out, place->file);
	snprintf(number, sizeof number, ":%u", place->line);
	put_text(out, number);
}

static bool put_path(struct store_bytes *out, const struct run *run, uint32_t context, uint32_t depth)
{
	struct arena arena = {0};
	const char *path = run_context_path(run, context, depth, &arena);

	if (path)
		store_bytes_put(out, path, strlen(path));
	arena_fini(&arena);
	return path != NULL;
}

bool place_put_key(
	struct store_bytes *out, const struct run *run, uint32_t context, enum place_by by, uint32_t depth)
{
	struct place place = place_of(run, context, depth);
	const struct run_function *function =
		place.function == UINT32_MAX ? NULL : run_function(run, place.function);

	switch (by) {
	case PLACE_PATH:
		if (!put_path(out, run, context, depth))
			return false;
		break;
	case PLACE_MODULE:
		put_text(out, function && function->module[0] ? function->module : "<unknown module>");
		break;
	case PLACE_LINE:
		put_line(out, &place);
		break;
	default:
		if (function)
			escape_field(out, function->name, function->name_bytes);
		else
			put_text(out, "<unknown>");
	}
	return !out->failed;
}
