/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_context.c - matches all positions of the pattern in parallel, so that no pattern takes exponential
 * time, and caches the positions after each scope: a path costs only the frames that it does not share.
 */
#include "timeline/select/select_context.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/escape.h"
#include "timeline/base/intern_table.h"

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
		if (!has_bit(set, i))
			continue;
		if (text[i] == '*')
			put_bit(set, i + 1);
		/* A frame that is '*' alone, with the separator on one side, may be missing. */
		if (text[i] == ';' && text[i + 1] == '*' && ends_frame(p, i + 2))
			put_bit(set, i + 2);
		if (!i && text[0] == '*' && text[1] == ';')
			put_bit(set, 2);
	}
}

static void take_byte(struct select_context *p, uint64_t *set, char c)
{
	uint64_t *next = p->spare;

	memset(next, 0, p->words * sizeof *next);
	for (size_t w = 0; w < p->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(bits);

			if (i >= p->size)
				continue;
			if (p->text[i] == '*')
				put_bit(next, i);
			else if (p->text[i] == '?' || p->text[i] == c)
				put_bit(next, i + 1);
		}
	close_set(p, next);
	memcpy(set, next, p->words * sizeof *next);
}

int select_context_new(struct select_context **pattern, const char *text, struct error *error)
{
	struct select_context *p;

	*pattern = NULL;
	if (strlen(text) > SELECT_CONTEXT_BYTES)
		return error_set(error, ERROR_USAGE,
			"--context: the pattern is longer than %u bytes: shorten it with *",
			SELECT_CONTEXT_BYTES);
	p = calloc(1, sizeof *p);
	if (!p)
		return error_memory(error);
	p->text = strdup(text);
	p->size = strlen(text);
	p->words = p->size / 64 + 1;
	p->begin = calloc(p->words, sizeof *p->begin);
	p->spare = calloc(p->words, sizeof *p->spare);
	if (!p->text || !p->begin || !p->spare) {
		select_context_free(p);
		return error_memory(error);
	}
	put_bit(p->begin, 0);
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
	free(pattern);
}

void select_context_bind(struct select_context *pattern, const struct run *run)
{
	if (pattern->run != run && pattern->scope_count)
		memset(pattern->has_set, 0, pattern->scope_count);
	pattern->run = run;
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
	p->frame.size = 0;
	escape_frame(&p->frame, function->name, function->name_bytes);
	if (!is_first)
		take_byte(p, set, ';');
	for (size_t i = 0; i < p->frame.size; i++)
		take_byte(p, set, (char)p->frame.data[i]);
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
	uint32_t scope = run_context(pattern->run, context)->scope;
	const uint64_t *set = scope == INTERN_TABLE_NONE ? pattern->begin : set_of(pattern, scope);

	return !set || has_bit(set, pattern->size);
}
