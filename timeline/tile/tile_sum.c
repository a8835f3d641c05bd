/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_sum.c - see tile_sum.h.
 *
 *   groups  ...1..        words of 64 contexts that hold something
 *   words      |..1..1..|
 *   columns       |  '--> work of the context
 *   places        '-----> last other entry of the context -nexts-> the one before (another state) -> ...
 */
#include "timeline/tile/tile_sum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

#define ENTRIES_MIN 64u
#define CONTEXTS_MIN 4096u /* a word of groups: all sizes are multiples */

static bool widen_entries(struct tile_sum *sum)
{
	uint32_t capacity = sum->capacity ? sum->capacity * 2 : ENTRIES_MIN;

	if (!array_resize(&sum->entries, capacity, sizeof *sum->entries) ||
		!array_resize(&sum->nexts, capacity, sizeof *sum->nexts))
		return false;
	sum->capacity = capacity;
	return true;
}

/* What memory that is out leaves behind is wide enough for the contexts so far. */
static bool widen_contexts(struct tile_sum *sum, uint32_t context)
{
	size_t old = sum->contexts, wanted = old ? old : CONTEXTS_MIN;

	while (wanted <= context)
		wanted *= 2;
	if (wanted > UINT32_MAX || !array_resize_zero(&sum->places, old, wanted, sizeof *sum->places) ||
		!array_resize_zero(&sum->columns, old, wanted, sizeof *sum->columns) ||
		!array_resize_zero(&sum->words, old / 64, wanted / 64, sizeof *sum->words) ||
		!array_resize_zero(&sum->groups, old / 4096, wanted / 4096, sizeof *sum->groups))
		return false;
	sum->contexts = (uint32_t)wanted;
	return true;
}

/* ---- contexts that stand for others ---- */

bool tile_sum_project(struct tile_sum *sum, const struct tile_projection *by, uint32_t contexts)
{
	struct tile_map *map = &sum->map;
	uint32_t from = by && by->level == map->level ? map->contexts : 0;

	map->by = by;
	if (!by)
		return true;
	if (contexts > map->contexts) {
		if (!array_resize(&map->stand_ins, contexts, sizeof *map->stand_ins))
			return false;
		map->contexts = contexts;
	}
	/* Stand-ins are added without another look. */
	if (map->contexts > sum->contexts && !widen_contexts(sum, map->contexts - 1))
		return false;
	map->level = by->level;
	if (from < map->contexts)
		memset(map->stand_ins + from, 0xff, (map->contexts - from) * sizeof *map->stand_ins);
	return true;
}

static uint32_t ask_for(struct tile_map *map, uint32_t context)
{
	uint32_t to = map->by->stand_in(map->by->own, context);

	assert(to < map->contexts);
	return map->stand_ins[context] = to;
}

static inline uint32_t stand_in(struct tile_map *map, uint32_t context)
{
	if (!map->by || context >= map->contexts)
		return context;
	return map->stand_ins[context] != UINT32_MAX ? map->stand_ins[context] : ask_for(map, context);
}

/* ---- adding ---- */

static inline void note(struct tile_sum *sum, uint32_t context)
{
	sum->count++;
	sum->words[context / 64] |= (uint64_t)1 << context % 64;
	sum->groups[context / 4096] |= (uint64_t)1 << context / 64 % 64;
}

static inline void add_to(struct tile_sum *sum, uint32_t context, uint64_t time_ns, uint64_t records)
{
	struct tile_work *work = &sum->columns[context];

	if (!(work->time_ns | work->records))
		note(sum, context);
	work->time_ns += time_ns;
	work->records += records;
}

static bool add_work(struct tile_sum *sum, uint32_t context, uint64_t time_ns, uint64_t records)
{
	context = stand_in(&sum->map, context);
	if (context >= sum->contexts && !widen_contexts(sum, context))
		return false;
	add_to(sum, context, time_ns, records);
	return true;
}

/* How many of them these tables could add: all, unless a context is beyond the tables. Compiled separately
 * for each table that may be missing; only the sums change meanwhile, which the compiler cannot know. */
static inline __attribute__((always_inline)) uint32_t add_by(struct tile_sum *sum,
	const struct store_sum_columns *from, const uint32_t *contexts, const uint32_t *stand_ins,
	uint32_t limit)
{
	struct tile_work *columns = sum->columns;
	const uint64_t *times_ns = from->times_ns, *samples = from->samples;
	const uint32_t *ids = from->contexts, count = from->count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t context = contexts ? contexts[ids[i]] : ids[i];
		struct tile_work *work;

		if (context >= limit)
			return i;
		if (stand_ins) {
			uint32_t to = stand_ins[context];

			context = to != UINT32_MAX ? to : ask_for(&sum->map, context);
		}
		work = &columns[context];
		if (!(work->time_ns | work->records))
			note(sum, context);
		work->time_ns += times_ns[i];
		work->records += samples[i];
	}
	return count;
}

static uint32_t add_most(struct tile_sum *sum, const struct store_sum_columns *from, const uint32_t *contexts)
{
	const struct tile_map *map = &sum->map;

	if (map->by)
		return contexts ? add_by(sum, from, contexts, map->stand_ins, map->contexts)
				: add_by(sum, from, NULL, map->stand_ins, map->contexts);
	return contexts ? add_by(sum, from, contexts, NULL, sum->contexts)
			: add_by(sum, from, NULL, NULL, sum->contexts);
}

bool tile_sum_add_columns(
	struct tile_sum *sum, const struct store_sum_columns *columns, const uint32_t *contexts)
{
	bool is_good = true;

	for (uint32_t i = add_most(sum, columns, contexts); i < columns->count && is_good; i++)
		is_good = add_work(sum, contexts ? contexts[columns->contexts[i]] : columns->contexts[i],
			columns->times_ns[i], columns->samples[i]);
	return is_good;
}

/* As add_to(), without asking in vain: whether a context is new cannot be foreseen. */
static inline void add_row(struct tile_sum *sum, uint32_t context, uint64_t time_ns)
{
	struct tile_work *work = &sum->columns[context];
	uint64_t *word = &sum->words[context / 64];

	sum->count += !(work->time_ns | work->records);
	if (!*word)
		sum->groups[context / 4096] |= (uint64_t)1 << context / 64 % 64;
	*word |= (uint64_t)1 << context % 64;
	work->time_ns += time_ns;
	work->records++;
}

/* Until where it came: as add_by(). */
static inline __attribute__((always_inline)) size_t add_rows_by(struct tile_sum *sum,
	const struct state_sum_rows *rows, size_t from, size_t to, const uint32_t *stand_ins, uint32_t limit)
{
	const uint64_t *begin_ns = rows->begin_ns;

	for (size_t i = from; i < to; i++) {
		uint32_t context = rows->contexts ? rows->contexts[rows->context[i]] : rows->context[i];

		if (context >= limit)
			return i;
		if (stand_ins) {
			uint32_t stand_in = stand_ins[context];

			context = stand_in != UINT32_MAX ? stand_in : ask_for(&sum->map, context);
		}
		add_row(sum, context, begin_ns[i + 1] - begin_ns[i]);
	}
	return to;
}

bool tile_sum_add_rows(struct tile_sum *sum, const struct state_sum_rows *rows, size_t from, size_t to)
{
	const struct tile_map *map = &sum->map;
	bool is_good = true;

	from = map->by ? add_rows_by(sum, rows, from, to, map->stand_ins, map->contexts)
		       : add_rows_by(sum, rows, from, to, NULL, sum->contexts);
	for (; from < to && is_good; from++)
		is_good = add_work(sum,
			rows->contexts ? rows->contexts[rows->context[from]] : rows->context[from],
			rows->begin_ns[from + 1] - rows->begin_ns[from], 1);
	return is_good;
}

/* Sums are unsigned: what is below 0 in between is right in the end. */
bool tile_sum_remove_rows(struct tile_sum *sum, const struct state_sum_rows *rows, bool with_last)
{
	bool is_good = true;

	for (size_t i = 0; i + !with_last < rows->count && is_good; i++) {
		uint32_t context = rows->contexts ? rows->contexts[rows->context[i]] : rows->context[i];
		uint64_t time_ns = i + 1 < rows->count ? rows->begin_ns[i + 1] - rows->begin_ns[i] : 0;

		is_good = add_work(sum, context, 0 - time_ns, UINT64_MAX);
	}
	return is_good;
}

static bool add_new(struct tile_sum *sum, const struct tile_entry *entry, uint32_t context)
{
	if (sum->entry_count == sum->capacity && !widen_entries(sum))
		return false;
	sum->nexts[sum->entry_count] = sum->places[context];
	sum->entries[sum->entry_count] = *entry;
	sum->entries[sum->entry_count].context = context;
	sum->places[context] = ++sum->entry_count;
	note(sum, context);
	return true;
}

bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry)
{
	uint32_t context;

	if (entry->state == EXTENT_WORK && entry->op == STORE_OP_NONE)
		return add_work(sum, entry->context, entry->time_ns, entry->records);
	context = stand_in(&sum->map, entry->context);
	if (context >= sum->contexts && !widen_contexts(sum, context))
		return false;
	for (uint32_t place = sum->places[context]; place; place = sum->nexts[place - 1]) {
		struct tile_entry *known = &sum->entries[place - 1];

		if (known->state == entry->state && known->op == entry->op) {
			known->time_ns += entry->time_ns;
			known->records += entry->records;
			return true;
		}
	}
	return add_new(sum, entry, context);
}

/* ---- taking ---- */

static bool is_before(const struct tile_entry *a, const struct tile_entry *b)
{
	return a->state != b->state ? a->state < b->state : a->op < b->op;
}

/* The few entries of one context, sorted; where the next context's begin. */
static struct tile_entry *take_context(const struct tile_sum *sum, uint32_t context, struct tile_entry *out)
{
	const struct tile_work *work = &sum->columns[context];
	struct tile_entry *end = out;

	if (work->time_ns | work->records)
		*end++ = (struct tile_entry){
			context, STORE_OP_NONE, EXTENT_WORK, (uint32_t)work->records, work->time_ns};
	for (uint32_t place = sum->places[context]; place; place = sum->nexts[place - 1]) {
		struct tile_entry *at = end++;

		for (; at > out && is_before(&sum->entries[place - 1], at - 1); at--)
			*at = at[-1];
		*at = sum->entries[place - 1];
	}
	return end;
}

static struct tile_entry *take_word(struct tile_sum *sum, uint32_t word, struct tile_entry *out)
{
	for (uint64_t bits = sum->words[word]; bits; bits &= bits - 1) {
		uint32_t context = word * 64 + (uint32_t)__builtin_ctzll(bits);

		if (out)
			out = take_context(sum, context, out);
		sum->places[context] = 0;
		sum->columns[context] = (struct tile_work){0, 0};
	}
	sum->words[word] = 0;
	return out;
}

uint32_t tile_sum_take(struct tile_sum *sum, struct tile_entry *out)
{
	struct tile_entry *end = out;

	for (uint32_t group = 0; group < sum->contexts / 4096 && sum->count; group++) {
		for (uint64_t bits = sum->groups[group]; bits; bits &= bits - 1)
			end = take_word(sum, group * 64 + (uint32_t)__builtin_ctzll(bits), end);
		sum->groups[group] = 0;
	}
	sum->count = sum->entry_count = 0;
	return out ? (uint32_t)(end - out) : 0;
}

void tile_sum_fini(struct tile_sum *sum)
{
	free(sum->map.stand_ins);
	free(sum->columns);
	free(sum->entries);
	free(sum->nexts);
	free(sum->places);
	free(sum->words);
	free(sum->groups);
	*sum = (struct tile_sum){0};
}
