/* SPDX-License-Identifier: Apache-2.0 */
/* row_key.c - see row_key.h: walks the scopes up to the depth; the position becomes each one's call site. */
#include "timeline/run/row_key.h"

#include <stdio.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/escape.h"

struct row_key row_key_of(const struct run *run, uint32_t context_id, uint32_t depth)
{
	const struct run_context *context = run_context(run, context_id);
	struct row_key place = {UINT32_MAX, context->file, context->line, context->loop, context->scope};
	uint32_t scope = context->scope, target;

	if (scope == UINT32_MAX)
		return place;
	target = run_scope_at(run, scope, depth);
	while (scope != target) {
		const struct run_scope *inner = run_scope(run, scope);

		place.file = inner->call_file;
		place.line = inner->call_line;
		place.loop = inner->call_loop;
		scope = inner->parent;
	}
	place.function = run_scope(run, scope)->function;
	place.scope = scope;
	return place;
}

/* "py::NAME:FILE", as Python's maps for perf say, also where an import has lost whose code it was. */
static bool is_python(const char *name)
{
	return !strncmp(name, "py::", 4) && strchr(name + 4, ':');
}

bool row_key_is_script(const struct run_function *function)
{
	if (function->is_python)
		return true;
	if (strncmp(function->module, "[anonymous ", 11) != 0)
		return is_python(function->name);
	return strncmp(function->name, "[anonymous code", 15) != 0;
}

/* The innermost scope of a script from there outwards; UINT32_MAX: there is none. */
static uint32_t script_of(const struct run *run, uint32_t scope)
{
	while (scope != UINT32_MAX && !row_key_is_script(run_function(run, run_scope(run, scope)->function)))
		scope = run_scope(run, scope)->parent;
	return scope;
}

bool row_key_has_script(const struct run *run, uint32_t context)
{
	return script_of(run, run_context(run, context)->scope) != UINT32_MAX;
}

static void put_text(struct store_bytes *out, const char *text)
{
	escape_field(out, text, strlen(text));
}

static void put_line(struct store_bytes *out, const struct row_key *place)
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

static void put_loop(struct store_bytes *out, const struct run *run, const struct row_key *place)
{
	const struct run_loop *loop = place->loop == RUN_LOOP_NONE ? NULL : run_loop(run, place->loop);
	char number[32];

	if (!loop) {
		put_text(out, "<no loop>");
	} else if (loop->line) {
		put_text(out, loop->file);
		snprintf(number, sizeof number, ":%u", loop->line);
		put_text(out, number);
	} else {
		put_text(out, run_function(run, loop->function)->module);
		snprintf(number, sizeof number, "+0x%llx", (unsigned long long)loop->start);
		put_text(out, number);
	}
}

/* From the function that the frame is of inwards. */
static void put_inline(struct store_bytes *out, const struct run *run, uint32_t scope)
{
	uint32_t chain[STORE_SCOPE_MAX];
	unsigned count = 0;

	while (scope != UINT32_MAX && count < STORE_SCOPE_MAX) {
		const struct run_scope *s = run_scope(run, scope);

		chain[count++] = s->function;
		if (s->kind != RUN_SCOPE_INLINE && s->kind != RUN_SCOPE_INSTRUCTION)
			break;
		scope = s->parent;
	}
	if (!count)
		put_text(out, "<unknown>");
	while (count) {
		const struct run_function *function = run_function(run, chain[--count]);

		escape_frame(out, function->name, function->name_bytes);
		if (count)
			store_bytes_put(out, ";", 1);
	}
}

/* Of the frame that the scope belongs to: a caller's when the path is cut. */
static void put_instruction(
	struct store_bytes *out, const struct run *run, uint32_t context, const struct row_key *place)
{
	uint32_t depth = place->scope == UINT32_MAX ? 0 : run_scope(run, place->scope)->depth, above;
	const char *module;
	uint64_t offset;
	char number[32];

	while ((above = run_context_parent(run, context)) != 0 &&
		run_context(run, above)->scope != UINT32_MAX &&
		run_scope(run, run_context(run, above)->scope)->depth >= depth)
		context = above;
	if (!run_context_place(run, context, &module, &offset)) {
		put_text(out, "<unknown instruction>");
		return;
	}
	put_text(out, module);
	snprintf(number, sizeof number, "+0x%llx", (unsigned long long)offset);
	put_text(out, number);
}

bool row_key_put(
	struct store_bytes *out, const struct run *run, uint32_t context, enum row_key_by by, uint32_t depth)
{
	struct row_key place = row_key_of(run, context, depth);
	const struct run_function *function =
		place.function == UINT32_MAX ? NULL : run_function(run, place.function);

	uint32_t script;

	switch (by) {
	case ROW_KEY_PATH:
		if (!put_path(out, run, context, depth))
			return false;
		break;
	case ROW_KEY_MODULE:
		put_text(out, function && function->module[0] ? function->module : "<unknown module>");
		break;
	case ROW_KEY_LINE:
		put_line(out, &place);
		break;
	case ROW_KEY_LOOP:
		put_loop(out, run, &place);
		break;
	case ROW_KEY_INLINE:
		put_inline(out, run, place.scope);
		break;
	case ROW_KEY_FILE:
		put_text(out, place.file && place.file[0] ? place.file : "<unknown file>");
		break;
	case ROW_KEY_INSTRUCTION:
		put_instruction(out, run, context, &place);
		break;
	case ROW_KEY_SCRIPT:
		script = script_of(run, place.scope);
		if (script != UINT32_MAX)
			function = run_function(run, run_scope(run, script)->function);
		/* fall through */
	default:
		if (function)
			escape_field(out, function->name, function->name_bytes);
		else
			put_text(out, "<unknown>");
	}
	return !out->failed;
}
