/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - numbering the contexts of a chunk while it is encoded.
 */
#include "store/dictionary.h"

#include <stdlib.h>

#define SLOTS_FIRST 512u
#define SLOTS_GROWTH 8u
#define SLOTS_MAX 32768u /* SLOTS_FIRST grown, twice the records */
_Static_assert(SLOTS_MAX >= 2 * STORE_CHUNK_RECORDS_MAX, "slots for all records");
#define TABLE_SAMPLES 7u
#define USES_KEPT 1024u /* frequencies above are all the same to the order */

void store_chunk_coder_fini(struct store_chunk_coder *coder)
{
	free(coder->memory);
	*coder = (struct store_chunk_coder){0};
}

/* One allocation, cut by falling alignment. */
bool store_chunk_coder_prepare(struct store_chunk_coder *coder)
{
	const size_t records = STORE_CHUNK_RECORDS_MAX;
	uint64_t *wide;
	uint32_t *narrow;

	if (coder->memory)
		return true;
	coder->memory = malloc((CHUNK_COLUMN_COUNT + TABLE_SAMPLES) * records * sizeof *wide +
			       (SLOTS_MAX + 3 * records) * sizeof *narrow);
	if (!coder->memory)
		return false;
	wide = coder->memory;
	for (unsigned c = 0; c < CHUNK_COLUMN_COUNT; c++, wide += records)
		coder->tables[c] = wide;
	coder->values = wide;
	narrow = (uint32_t *)(wide + TABLE_SAMPLES * records);
	coder->slots = narrow;
	coder->ids = narrow + SLOTS_MAX;
	coder->uses = coder->ids + records;
	coder->index = coder->uses + records;
	return true;
}

static size_t slot_of(const struct store_chunk_coder *coder, uint32_t id)
{
	return (id * 0x9e3779b1u >> 7) & (coder->slot_count - 1);
}

static void slots_begin(struct store_chunk_coder *coder, size_t count)
{
	coder->slot_count = count;
	memset(coder->slots, 0, count * sizeof *coder->slots);
}

/* Most chunks have few contexts, whose slots had better stay in the nearest cache. */
static void slots_grow(struct store_chunk_coder *coder, uint32_t known)
{
	slots_begin(coder, coder->slot_count * SLOTS_GROWTH);
	for (uint32_t i = 0; i < known; i++) {
		size_t at = slot_of(coder, coder->ids[i]);

		while (coder->slots[at])
			at = (at + 1) & (coder->slot_count - 1);
		coder->slots[at] = i + 1;
	}
}

/* The number of a context in order of appearance. */
static uint32_t number_of(struct store_chunk_coder *coder, uint32_t id, uint32_t *known)
{
	size_t at = slot_of(coder, id);

	for (; coder->slots[at]; at = (at + 1) & (coder->slot_count - 1))
		if (coder->ids[coder->slots[at] - 1] == id)
			return coder->slots[at] - 1;
	coder->ids[*known] = id;
	coder->uses[*known] = 0;
	coder->slots[at] = ++*known;
	if (*known > coder->slot_count / 2)
		slots_grow(coder, *known);
	return *known - 1;
}

/* Sorts ids by descending use (counting sort) and renumbers the records. `slots` is free to be scratch. */
static void order_by_use(struct store_chunk_coder *coder, unsigned count, uint32_t known)
{
	uint32_t starts[USES_KEPT + 1] = {0}, *rank = coder->slots, *sorted = coder->slots + known;

	for (uint32_t i = 0; i < known; i++) {
		if (coder->uses[i] >= USES_KEPT)
			coder->uses[i] = USES_KEPT - 1;
		starts[USES_KEPT - coder->uses[i]]++;
	}
	for (uint32_t use = 1; use <= USES_KEPT; use++)
		starts[use] += starts[use - 1];
	for (uint32_t i = 0; i < known; i++) {
		rank[i] = starts[USES_KEPT - 1 - coder->uses[i]]++;
		sorted[rank[i]] = coder->ids[i];
	}
	memcpy(coder->ids, sorted, known * sizeof *sorted);
	for (unsigned i = 0; i < count; i++)
		coder->index[i] = rank[coder->index[i]];
}

void store_dictionary_begin(struct store_chunk_coder *coder, unsigned most)
{
	slots_begin(coder, SLOTS_FIRST);
	coder->known = 0;
	coder->most = most;
}

void store_dictionary_add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count)
{
	uint32_t known = coder->known, last = at && known <= coder->most ? coder->index[at - 1] : 0;

	for (unsigned i = at; i < at + count && known <= coder->most; i++) {
		if (i == 0 || records[i].context != records[i - 1].context)
			last = number_of(coder, records[i].context, &known);
		coder->index[i] = last;
		coder->uses[last]++;
	}
	coder->known = known;
}

unsigned store_dictionary_end(struct store_chunk_coder *coder, unsigned count)
{
	if (coder->known > coder->most)
		return 0;
	order_by_use(coder, count, coder->known);
	return coder->known;
}

/* Median of up to seven values, by insertion. */
static uint64_t median_of(uint64_t *values, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		uint64_t value = values[i];
		unsigned at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	return values[count / 2];
}

void store_dictionary_table(struct store_chunk_coder *coder, enum chunk_column column, const uint64_t *values,
	unsigned count, unsigned contexts)
{
	uint32_t *seen = coder->uses;

	memset(seen, 0, contexts * sizeof *seen);
	for (unsigned i = 0; i < count; i++) {
		uint32_t at = coder->index[i];

		if (seen[at] < TABLE_SAMPLES)
			coder->values[at * TABLE_SAMPLES + seen[at]++] = values[i];
	}
	for (unsigned at = 0; at < contexts; at++)
		coder->tables[column][at] = median_of(coder->values + at * TABLE_SAMPLES, seen[at]);
}
