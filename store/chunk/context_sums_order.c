/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_sums_order.c - sorts sums by metric, then context. Each pair occurs once, so it sorts one number
 * each, byte by byte (radix sort), and skips bytes that are equal in all.
 */
#include <stdlib.h>

#include "store/chunk/context_sums.h"

#define FEW 48u /* are sorted by comparing */
#define BYTE_VALUES 256u

struct place {
	uint64_t key;
	uint32_t at; /* in the entries */
};

static uint64_t key_of(const struct store_sum *sum)
{
	return (uint64_t)sum->metric << 32 | sum->context;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = key_of(a), y = key_of(b);

	return (x > y) - (x < y);
}

/* By one byte of the key; places of equal bytes stay in their order. */
static void sort_byte(struct place *to, const struct place *from, uint32_t count, unsigned shift)
{
	uint32_t starts[BYTE_VALUES + 1] = {0};

	for (uint32_t i = 0; i < count; i++)
		starts[(from[i].key >> shift & 255) + 1]++;
	for (unsigned value = 1; value < BYTE_VALUES; value++)
		starts[value] += starts[value - 1];
	for (uint32_t i = 0; i < count; i++)
		to[starts[from[i].key >> shift & 255]++] = from[i];
}

/* Sorts them; where they are then: `places` or `spare`. */
static struct place *sort_places(struct place *places, struct place *spare, uint32_t count)
{
	uint64_t differs = 0;

	for (uint32_t i = 1; i < count; i++)
		differs |= places[i].key ^ places[0].key;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		struct place *from = places;

		if (!(differs >> shift & 255))
			continue;
		sort_byte(spare, from, count, shift);
		places = spare;
		spare = from;
	}
	return places;
}

/* Entry places[i].at goes to i, ring by ring. */
static void move_entries(struct store_sum *entries, struct place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct store_sum first = entries[i];
		uint32_t to = i, from = places[i].at;

		while (from != i) {
			entries[to] = entries[from];
			places[to].at = to;
			to = from;
			from = places[to].at;
		}
		entries[to] = first;
		places[to].at = to;
	}
}

void store_context_sums_order(struct store_context_sums *sums)
{
	bool is_ordered = true;
	struct place *places, *sorted;

	for (uint32_t i = 1; i < sums->count && is_ordered; i++)
		is_ordered = key_of(&sums->entries[i - 1]) < key_of(&sums->entries[i]);
	if (is_ordered)
		return;
	places = sums->count > FEW ? reallocarray(NULL, sums->count, 2 * sizeof *places) : NULL;
	if (!places) {
		qsort(sums->entries, sums->count, sizeof *sums->entries, compare);
		return;
	}
	for (uint32_t i = 0; i < sums->count; i++)
		places[i] = (struct place){key_of(&sums->entries[i]), i};
	sorted = sort_places(places, places + sums->count, sums->count);
	move_entries(sums->entries, sorted, sums->count);
	free(places);
}
