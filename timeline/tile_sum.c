/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_sum.c - see tile_sum.h.
 *
 *   groups  ...1..        words of 64 contexts that hold something
 *   words      |..1..1..|
 *   places        |  '--> last entry of the context -nexts-> the one before (another state) -> ...
 */
#include "timeline/tile_sum.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MIN 64u
#define CONTEXTS_MIN 4096u /* a word of groups: all sizes are multiples */

static bool widen_entries(struct tile_sum *sum)
{
	uint32_t room = sum->room ? sum->room * 2 : ENTRIES_MIN;
	struct tile_entry *entries = reallocarray(sum->entries, room, sizeof *entries);
	uint32_t *nexts;

	if (!entries)
		return false;
	sum->entries = entries;
	nexts = reallocarray(sum->nexts, room, sizeof *nexts);
	if (!nexts)
		return false;
	sum->nexts = nexts;
	sum->room = room;
	return true;
}

static void *widen_array(void *array, size_t old_bytes, size_t new_bytes)
{
	uint8_t *wider = realloc(array, new_bytes);

	if (wider)
		memset(wider + old_bytes, 0, new_bytes - old_bytes);
	return wider;
}

/* What memory that is out leaves behind is wide enough for the contexts so far. */
static bool widen_contexts(struct tile_sum *sum, uint32_t context)
{
	size_t old = sum->contexts, wanted = old ? old : CONTEXTS_MIN;
	void *wider;

	while (wanted <= context)
		wanted *= 2;
	if (wanted > UINT32_MAX)
		return false;
	wider = widen_array(sum->places, old * sizeof *sum->places, wanted * sizeof *sum->places);
	if (!wider)
		return false;
	sum->places = wider;
	wider = widen_array(sum->words, old / 8, wanted / 8);
	if (!wider)
		return false;
	sum->words = wider;
	wider = widen_array(sum->groups, old / 512, wanted / 512);
	if (!wider)
		return false;
	sum->groups = wider;
	sum->contexts = (uint32_t)wanted;
	return true;
}

static bool add_new(struct tile_sum *sum, const struct tile_entry *entry)
{
	uint32_t context = entry->context;

	if (sum->count == sum->room && !widen_entries(sum))
		return false;
	sum->nexts[sum->count] = sum->places[context];
	sum->entries[sum->count] = *entry;
	sum->places[context] = ++sum->count;
	sum->words[context / 64] |= (uint64_t)1 << context % 64;
	sum->groups[context / 4096] |= (uint64_t)1 << context / 64 % 64;
	return true;
}

bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry)
{
	if (entry->context >= sum->contexts && !widen_contexts(sum, entry->context))
		return false;
	for (uint32_t place = sum->places[entry->context]; place; place = sum->nexts[place - 1]) {
		struct tile_entry *known = &sum->entries[place - 1];

		if (known->state == entry->state && known->op == entry->op) {
			known->time_ns += entry->time_ns;
			known->records += entry->records;
			return true;
		}
	}
	return add_new(sum, entry);
}

static bool is_before(const struct tile_entry *a, const struct tile_entry *b)
{
	return a->state != b->state ? a->state < b->state : a->op < b->op;
}

/* The few entries of one context, sorted; where the next context's begin. */
static struct tile_entry *take_context(const struct tile_sum *sum, uint32_t context, struct tile_entry *out)
{
	struct tile_entry *end = out;

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
	}
	sum->words[word] = 0;
	return out;
}

void tile_sum_take(struct tile_sum *sum, struct tile_entry *out)
{
	for (uint32_t group = 0; group < sum->contexts / 4096 && sum->count; group++) {
		for (uint64_t bits = sum->groups[group]; bits; bits &= bits - 1)
			out = take_word(sum, group * 64 + (uint32_t)__builtin_ctzll(bits), out);
		sum->groups[group] = 0;
	}
	sum->count = 0;
}

void tile_sum_fini(struct tile_sum *sum)
{
	free(sum->entries);
	free(sum->nexts);
	free(sum->places);
	free(sum->words);
	free(sum->groups);
	*sum = (struct tile_sum){0};
}
