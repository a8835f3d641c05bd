/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_context.c - matches all positions of the pattern in parallel, so that no pattern takes exponential
 * time, and caches the positions after each scope: a path costs only the frames that it does not share.
 *
 *   main;*;@loop;solve*@inline      a special frame takes a whole node at once: from the place before its
 *         ^     ^                   separator, or of its first byte, to the place behind its last one
 *
 * The set of a scope has not gone through loops and lines: which those are tells the call or the sample
 * below.
 */
#include "timeline/select/select_context.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "timeline/base/intern_table.h"
#include "timeline/select/select_frame.h"

struct select_context {
	const struct run *run;
	char *text;
	size_t size;
	size_t words;	/* of one set: a bit for each place in the pattern, and for its end */
	uint64_t *sets; /* by scope */
	uint8_t *has_set;
	uint32_t scope_count;
	uint64_t *begin, *spare; /* set before the first byte; room */
	struct store_bytes frame;
	struct select_frame *frames; /* special ones, in order */
	size_t frame_count;
	bool has_places;     /* some are loops or lines */
	uint64_t *specials;  /* set of the places within special frames: no bytes are compared there */
	uint64_t *place_set; /* room */
	const struct select_cost *cost;
};

static bool has_bit(const uint64_t *set, size_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static void put_bit(uint64_t *set, size_t i)
{
	set[i / 64] |= 1ull << (i % 64);
}

static bool ends_frame(const struct select_context *p, size_t i)
{
	return i == p->size || p->text[i] == ';';
}

/* Adds the positions reached without a byte, which are always further ahead. */
static void close_set(const struct select_context *p, uint64_t *set)
{
	const char *text = p->text;

	for (size_t i = 0; i < p->size; i++) {
		if (!has_bit(set, i) || has_bit(p->specials, i))
			continue;
		if (text[i] == '*')
			put_bit(set, i + 1);
		/* A frame that is '*' alone, with the separator on one side, may be missing. */
		if (text[i] == ';' && text[i + 1] == '*' && ends_frame(p, i + 2))
			put_bit(set, i + 2);
	}
}

static void take_byte(struct select_context *p, uint64_t *set, char c)
{
	uint64_t *next = p->spare;

	memset(next, 0, p->words * sizeof *next);
	for (size_t w = 0; w < p->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(bits);

			if (i >= p->size || has_bit(p->specials, i))
				continue;
			if (p->text[i] == '*')
				put_bit(next, i);
			else if (p->text[i] == '?' || p->text[i] == c)
				put_bit(next, i + 1);
		}
	close_set(p, next);
	memcpy(set, next, p->words * sizeof *next);
}

/* ---- special frames ---- */

/* Room for all frames that there may be. */
static int add_frames(struct select_context *p, struct error *error)
{
	size_t frames = 1;
	int code = 0;

	for (size_t i = 0; i < p->size; i++)
		frames += p->text[i] == ';';
	p->frames = calloc(frames, sizeof *p->frames);
	if (!p->frames)
		return error_memory(error);
	for (size_t at = 0, size; at <= p->size && !code; at += size + 1) {
		struct select_frame *frame = &p->frames[p->frame_count];

		size = select_frame_size(p->text + at);
		if (!select_frame_is_special(p->text + at, size))
			continue;
		p->frame_count++;
		code = select_frame_parse(frame, p->text + at, size, error);
		frame->begin += at;
		frame->end += at;
		p->has_places |= frame->node != SELECT_FRAME_FUNCTION;
		for (size_t i = frame->begin; i < frame->end; i++)
			put_bit(p->specials, i);
	}
	return code;
}

/* Of the places before a scope's name those that a special frame takes through it, into `to`. */
static void take_frames(struct select_context *p, const uint64_t *set, uint32_t scope, uint64_t *to)
{
	memset(to, 0, p->words * sizeof *to);
	for (size_t i = 0; i < p->frame_count; i++)
		if (has_bit(set, p->frames[i].begin) && select_frame_match_scope(&p->frames[i], p->run, scope,
								(const char *)p->frame.data, p->cost))
			put_bit(to, p->frames[i].end);
	close_set(p, to);
}

/* Goes through a loop (line 0) or a line, or not: both are left out of paths where the pattern has none. */
static void take_place(struct select_context *p, uint64_t *set, uint32_t scope, uint32_t loop,
	const char *file, uint32_t line)
{
	uint64_t *to = p->spare;

	memset(to, 0, p->words * sizeof *to);
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct select_frame *frame = &p->frames[i];

		if (!frame->begin || !has_bit(set, frame->begin - 1))
			continue;
		if (line ? select_frame_match_line(frame, p->run, scope, file, line, p->cost)
			 : select_frame_match_loop(frame, p->run, scope, loop, p->cost))
			put_bit(to, frame->end);
	}
	close_set(p, to);
	for (size_t w = 0; w < p->words; w++)
		set[w] |= to[w];
}

/* The outermost one first. */
static void take_loops(struct select_context *p, uint64_t *set, uint32_t scope, uint32_t loop)
{
	if (loop == RUN_LOOP_NONE)
		return;
	take_loops(p, set, scope, run_loop(p->run, loop)->parent);
	take_place(p, set, scope, loop, NULL, 0);
}

static void take_position(struct select_context *p, uint64_t *set, uint32_t scope, uint32_t loop,
	const char *file, uint32_t line)
{
	take_loops(p, set, scope, loop);
	if (line)
		take_place(p, set, scope, RUN_LOOP_NONE, file, line);
}

/* ---- the pattern ---- */

static int fill(struct select_context *p, const char *text, struct error *error)
{
	p->text = strdup(text);
	p->size = strlen(text);
	p->words = p->size / 64 + 1;
	p->begin = calloc(p->words, sizeof *p->begin);
	p->spare = calloc(p->words, sizeof *p->spare);
	p->specials = calloc(p->words, sizeof *p->specials);
	p->place_set = calloc(p->words, sizeof *p->place_set);
	if (!p->text || !p->begin || !p->spare || !p->specials || !p->place_set)
		return error_memory(error);
	return add_frames(p, error);
}

int select_context_new(struct select_context **pattern, const char *text, struct error *error)
{
	struct select_context *p;
	int code;

	*pattern = NULL;
	if (strlen(text) > SELECT_CONTEXT_BYTES)
		return error_set(error, ERROR_USAGE,
			"--context: the pattern is longer than %u bytes: shorten it with *",
			SELECT_CONTEXT_BYTES);
	p = calloc(1, sizeof *p);
	if (!p)
		return error_memory(error);
	code = fill(p, text, error);
	if (code) {
		select_context_free(p);
		return code;
	}
	put_bit(p->begin, 0);
	if (p->size > 1 && text[0] == '*' && text[1] == ';')
		put_bit(p->begin, 2); /* the first frame may be missing, too */
	close_set(p, p->begin);
	*pattern = p;
	return 0;
}

void select_context_free(struct select_context *pattern)
{
	if (!pattern)
		return;
	store_bytes_fini(&pattern->frame);
	free(pattern->text);
	free(pattern->sets);
	free(pattern->has_set);
	free(pattern->begin);
	free(pattern->spare);
	for (size_t i = 0; i < pattern->frame_count; i++)
		select_frame_fini(&pattern->frames[i]);
	free(pattern->frames);
	free(pattern->specials);
	free(pattern->place_set);
	free(pattern);
}

void select_context_bind(struct select_context *pattern, const struct run *run)
{
	if (pattern->run != run && pattern->scope_count)
		memset(pattern->has_set, 0, pattern->scope_count);
	pattern->run = run;
}

bool select_context_needs_cost(const struct select_context *pattern)
{
	for (size_t i = 0; i < pattern->frame_count; i++)
		if (pattern->frames[i].has_cost)
			return true;
	return false;
}

void select_context_set_cost(struct select_context *pattern, const struct select_cost *cost)
{
	if (pattern->scope_count)
		memset(pattern->has_set, 0, pattern->scope_count);
	pattern->cost = cost;
}

static bool widen(struct select_context *p, uint32_t scope)
{
	uint32_t count = run_scope_count(p->run);

	if (scope < p->scope_count)
		return true;
	count = count > UINT32_MAX / 2 ? UINT32_MAX : count * 2;
	if (!array_resize(&p->sets, count, p->words * sizeof *p->sets) ||
		!array_resize(&p->has_set, count, 1))
		return false;
	memset(p->has_set + p->scope_count, 0, count - p->scope_count);
	p->scope_count = count;
	return true;
}

static void take_scope(struct select_context *p, uint32_t scope)
{
	const struct run_scope *s = run_scope(p->run, scope);
	const struct run_function *function = run_function(p->run, s->function);
	uint64_t *set = p->sets + (size_t)scope * p->words;
	bool is_first = s->parent == INTERN_TABLE_NONE || s->parent == RUN_SCOPE_PROGRAM_ROOT;

	memcpy(set, is_first ? p->begin : p->sets + (size_t)s->parent * p->words, p->words * sizeof *set);
	p->has_set[scope] = 1;
	if (scope == RUN_SCOPE_PROGRAM_ROOT)
		return;
	if (!is_first && p->has_places)
		take_position(p, set, s->parent, s->call_loop, s->call_file, s->call_line);
	p->frame.size = 0;
	escape_frame(&p->frame, function->name, function->name_bytes);
	if (!is_first)
		take_byte(p, set, ';');
	if (p->frame_count) {
		store_bytes_put(&p->frame, "", 1);
		p->frame.size--;
		take_frames(p, set, scope, p->place_set);
	}
	for (size_t i = 0; i < p->frame.size; i++)
		take_byte(p, set, (char)p->frame.data[i]);
	for (size_t w = 0; p->frame_count && w < p->words; w++)
		set[w] |= p->place_set[w];
}

/* The set behind a scope; NULL: no memory. */
static const uint64_t *set_of(struct select_context *p, uint32_t scope)
{
	uint32_t depth = run_scope(p->run, scope)->depth, known;

	if (!widen(p, scope))
		return NULL;
	/* Down from the deepest ancestor that is known. */
	for (known = depth + 1; known > 0; known--)
		if (p->has_set[run_scope_at(p->run, scope, known - 1)])
			break;
	for (; known <= depth; known++)
		take_scope(p, run_scope_at(p->run, scope, known));
	return p->sets + (size_t)scope * p->words;
}

bool select_context_match(struct select_context *pattern, uint32_t context)
{
	const struct run_context *at = run_context(pattern->run, context);
	const uint64_t *set = at->scope == INTERN_TABLE_NONE ? pattern->begin : set_of(pattern, at->scope);

	if (!set || has_bit(set, pattern->size))
		return true;
	if (!pattern->has_places || at->scope == INTERN_TABLE_NONE)
		return false;
	memcpy(pattern->place_set, set, pattern->words * sizeof *set);
	take_position(pattern, pattern->place_set, at->scope, at->loop, at->file, at->line);
	return has_bit(pattern->place_set, pattern->size);
}
