/* SPDX-License-Identifier: Apache-2.0 */
/* names_loops.c - see names_loops.h. */
#include "timeline/names/names_loops.h"

#include <string.h>

#include "store/store.h"

/* The functions at one place of a loop. */
struct chain {
	struct names_scope scopes[NAMES_SCOPE_MAX];
	unsigned count; /* 0: nothing known there */
};

/* A loop, and the number of the answer's functions that contain it. */
struct placed {
	struct loops_one loop;
	const char *file;
	uint32_t line;
	unsigned level;
};

struct placing {
	const struct names_lines *lines;
	struct chain header, other;
	struct symbol_answer *answer;
};

static int chain_read(struct placing *placing, uint64_t place, struct chain *chain, struct error *error)
{
	int count = placing->lines->find(placing->lines->context, place, chain->scopes, error);

	chain->count = count > 0 ? (unsigned)count : 0;
	return count < 0 ? count : 0;
}

/* The same call inlined at the same place: debug information may hold it several times over. */
static bool scope_equal(const struct names_scope *a, const struct names_scope *b, unsigned i)
{
	if (i == 0)
		return true;
	return a[i - 1].line == b[i - 1].line && !strcmp(a[i].name, b[i].name) &&
	       !strcmp(a[i - 1].file, b[i - 1].file);
}

/* How many of the outer functions two places share. */
static unsigned shared(
	const struct names_scope *a, unsigned a_count, const struct names_scope *b, unsigned b_count)
{
	unsigned count = 0;

	while (count < a_count && count < b_count && scope_equal(a, b, count))
		count++;
	return count;
}

/* The innermost function, of the `level` outer ones of the loop's begin, that has half of the loop's code.
 * What is inlined to step an iterator on often has its begin and the branch back, and next to nothing of the
 * rest. */
static int body_level(
	struct placing *placing, const struct loops_one *loop, unsigned *level, struct error *error)
{
	unsigned with[NAMES_SCOPE_MAX + 1] = {0}, known = 0;
	int rc = 0;

	for (uint32_t i = 0; i < loop->body_count && !rc; i++) {
		rc = chain_read(placing, loop->body[i], &placing->other, error);
		known += placing->other.count > 0;
		for (unsigned in = shared(
			     placing->header.scopes, *level, placing->other.scopes, placing->other.count);
			in > 0; in--)
			with[in]++;
	}
	while (*level > 1 && 2 * with[*level] < known)
		--*level;
	return rc;
}

/* The function that holds the loop's first instruction, all branches back and half of its code is the one the
 * loop is in. That is the same for all addresses in it: it is looked for once. */
static int loop_level(
	struct placing *placing, const struct loops_one *loop, unsigned *level, struct error *error)
{
	int rc = chain_read(placing, loop->header, &placing->header, error);

	*level = *loop->level ? *loop->level - 1 : placing->header.count;
	if (*loop->level)
		return rc;
	for (uint32_t i = 1; i <= loop->back_count && i < loop->place_count && !rc; i++) {
		rc = chain_read(placing, loop->places[i], &placing->other, error);
		if (placing->other.count)
			*level = shared(
				placing->header.scopes, *level, placing->other.scopes, placing->other.count);
	}
	rc = rc ? rc : body_level(placing, loop, level, error);
	if (!rc)
		*loop->level = *level + 1;
	return rc;
}

/* Takes the place's line in that function if it is lower, in the same file and not above the outer loop. */
static int line_take(struct placing *placing, struct placed *placed, const struct placed *outer,
	uint64_t place, unsigned level, struct error *error)
{
	const struct names_scope *scope = &placing->other.scopes[level - 1];
	int rc = chain_read(placing, place, &placing->other, error);

	if (rc ||
		shared(placing->header.scopes, placing->header.count, placing->other.scopes,
			placing->other.count) < level ||
		!scope->line || !scope->file[0])
		return rc;
	if (placed->line && (strcmp(scope->file, placed->file) != 0 || scope->line >= placed->line))
		return 0;
	if (outer && outer->level == level && scope->line < outer->line && !strcmp(scope->file, outer->file))
		return 0;
	placed->file = scope->file;
	placed->line = scope->line;
	return 0;
}

/* The lowest line that branches have; the first instruction's only where they have none, for it is often one
 * that was moved there. */
static int loop_line(struct placing *placing, struct placed *placed, const struct placed *outer,
	unsigned level, struct error *error)
{
	const struct loops_one *loop = &placed->loop;
	int rc = 0;

	for (uint32_t i = 1; i < loop->place_count && !rc && level; i++)
		rc = line_take(placing, placed, outer, loop->places[i], level, error);
	if (!rc && level && !placed->line)
		rc = line_take(placing, placed, outer, loop->header, level, error);
	if (!rc && level && !placed->line && outer)
		rc = line_take(placing, placed, NULL, loop->header, level, error);
	return rc;
}

/* An inner loop's line is never above the outer one's. */
static int place(
	struct placing *placing, struct placed *placed, const struct placed *outer, struct error *error)
{
	struct symbol_answer *answer = placing->answer;
	unsigned level, least = outer ? outer->level : 1;
	int rc = loop_level(placing, &placed->loop, &level, error);

	if (!rc)
		rc = loop_line(placing, placed, outer, level, error);
	level = shared(placing->header.scopes, level, answer->scopes, answer->scope_count);
	placed->level = level < least ? least : level;
	return rc;
}

/* Compilers make several of one loop (a vector form, a rest, unswitched forms) and sometimes nest them:
 * nested loops at the same line are one loop in the source. */
static unsigned join_same(struct placed *placed, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct placed *outer = kept ? &placed[kept - 1] : NULL;

		if (outer && placed[i].line && outer->level == placed[i].level &&
			outer->line == placed[i].line && !strcmp(outer->file, placed[i].file)) {
			placed[kept - 1].loop.is_spin |= placed[i].loop.is_spin;
			continue;
		}
		placed[kept++] = placed[i];
	}
	return kept;
}

static void insert(struct symbol_answer *answer, const struct placed *placed, unsigned count)
{
	static struct names_scope scopes[NAMES_SCOPE_MAX]; /* hpct-names has one thread */
	unsigned next = 0, to = 0, room;

	for (unsigned i = 0; i < answer->scope_count; i++) {
		const char *file = answer->scopes[i].file;
		uint32_t line = answer->scopes[i].line;

		scopes[to++] = answer->scopes[i];
		room = NAMES_SCOPE_MAX - to - (answer->scope_count - 1 - i);
		for (; next < count && placed[next].level == i + 1 && room; next++, room--) {
			scopes[to - 1].file = placed[next].file;
			scopes[to - 1].line = placed[next].line;
			scopes[to++] = (struct names_scope){.kind = NAMES_LOOP,
				.name = placed[next].loop.is_spin ? STORE_LOOP_SPIN : "",
				.linkage = "",
				.start = placed[next].loop.header,
				.decl_file = placed[next].file,
				.decl_line = placed[next].line,
				.file = file,
				.line = line};
		}
		while (next < count && placed[next].level <= i + 1)
			next++;
	}
	memcpy(answer->scopes, scopes, to * sizeof *scopes);
	answer->scope_count = to;
}

int names_loops_insert(struct loops *loops, const struct loops_function *function,
	const struct names_lines *lines, struct symbol_answer *answer, struct error *error)
{
	static struct placing placing;
	struct loops_one nest[LOOP_DEPTH_MAX];
	struct placed placed[LOOP_DEPTH_MAX];
	int count = loops_find(loops, function, answer->offset, nest, &answer->stretch), rc = 0;

	if (count < 0)
		return error_memory(error);
	placing.lines = lines;
	placing.answer = answer;
	for (int i = 0; i < count && !rc; i++) {
		placed[i] = (struct placed){.loop = nest[i], .file = "", .level = 1};
		if (lines)
			rc = place(&placing, &placed[i], i ? &placed[i - 1] : NULL, error);
	}
	if (!rc && count)
		insert(answer, placed, join_same(placed, (unsigned)count));
	return rc;
}
