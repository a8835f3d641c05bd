/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - numbering the contexts of a chunk while it is encoded.
 */
#include "store/dictionary.h"

#include <stddef.h>
#include <stdlib.h>

#include "store/sums.h"

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

	if (coder->memory)
		return true;
	coder->memory = malloc(2 * records * sizeof *coder->entries +
			       ((CHUNK_COLUMN_COUNT + 1) * records + SLOTS_MAX) * sizeof *wide +
			       4 * records * sizeof *coder->index);
	if (!coder->memory)
		return false;
	coder->entries = coder->memory;
	coder->ordered = coder->entries + records;
	wide = (uint64_t *)(coder->ordered + records);
	for (unsigned c = 0; c < CHUNK_COLUMN_COUNT; c++, wide += records)
		coder->tables[c] = wide;
	coder->values = wide;
	coder->slots = wide + records;
	coder->index = (uint32_t *)(coder->slots + SLOTS_MAX);
	coder->seen = coder->index + records;
	coder->samples = coder->seen + records;
	coder->firsts = coder->samples + records;
	return true;
}

static size_t slot_of(uint32_t id, size_t mask)
{
	return (id * 0x9e3779b1u >> 7) & mask;
}

static void slots_begin(struct store_chunk_coder *coder, size_t count)
{
	coder->slot_count = count;
	memset(coder->slots, 0, count * sizeof *coder->slots);
}

static uint64_t slot_with(uint32_t id, uint32_t number)
{
	return (uint64_t)id << 32 | (number + 1);
}

#define OTHERS UINT32_MAX
/* The number in a slot; OTHERS or more: it is another context's or, even for context 0, nobody's. */
static inline uint64_t number_in(uint64_t slot, uint32_t id)
{
	return (slot ^ (uint64_t)id << 32) - 1;
}

/* Most chunks have few contexts, whose slots had better stay in the nearest cache. */
static void slots_grow(struct store_chunk_coder *coder, uint32_t known)
{
	slots_begin(coder, coder->slot_count * SLOTS_GROWTH);
	for (uint32_t i = 0; i < known; i++) {
		size_t at = slot_of(coder->entries[i].context, coder->slot_count - 1);

		while (coder->slots[at])
			at = (at + 1) & (coder->slot_count - 1);
		coder->slots[at] = slot_with(coder->entries[i].context, i);
	}
}

/* The number of record i's context in order of appearance, which is not in its first slot. */
static __attribute__((noinline)) uint32_t number_behind(
	struct store_chunk_coder *coder, uint32_t id, unsigned i, uint32_t *known)
{
	size_t at = slot_of(id, coder->slot_count - 1);

	for (; coder->slots[at]; at = (at + 1) & (coder->slot_count - 1))
		if (number_in(coder->slots[at], id) < OTHERS)
			return (uint32_t)number_in(coder->slots[at], id);
	coder->entries[*known] = (struct store_sum){.context = id};
	coder->firsts[*known] = i;
	coder->slots[at] = slot_with(id, *known);
	if (++*known > coder->slot_count / 2)
		slots_grow(coder, *known);
	return *known - 1;
}

static uint32_t place_of(uint64_t uses)
{
	return USES_KEPT - 1 - (uint32_t)(uses < USES_KEPT ? uses : USES_KEPT - 1);
}

/* Sorts entries by descending use (counting sort) and renumbers the records. `slots` is free to be scratch.
 */
static void order_by_use(struct store_chunk_coder *coder, unsigned count, uint32_t known)
{
	uint32_t starts[USES_KEPT + 1] = {0}, *rank = (uint32_t *)coder->slots;
	struct store_sum *entries = coder->entries;
	uint32_t *index = coder->index;

	for (uint32_t i = 0; i < known; i++)
		starts[place_of(entries[i].samples) + 1]++;
	for (uint32_t use = 1; use <= USES_KEPT; use++)
		starts[use] += starts[use - 1];
	for (uint32_t i = 0; i < known; i++) {
		rank[i] = starts[place_of(entries[i].samples)]++;
		coder->ordered[rank[i]] = entries[i];
	}
	coder->entries = coder->ordered;
	coder->ordered = entries;
	for (unsigned i = 0; i < count; i++)
		index[i] = rank[index[i]];
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
	struct store_sum *entries = coder->entries;
	const uint64_t *slots = coder->slots;
	uint32_t *index = coder->index, known = coder->known;
	size_t mask = coder->slot_count - 1;

	for (unsigned i = at; i < at + count && known <= coder->most; i++) {
		uint32_t id = records[i].context;
		uint64_t number = number_in(slots[slot_of(id, mask)], id);

		if (number >= OTHERS) {
			number = number_behind(coder, id, i, &known);
			mask = coder->slot_count - 1;
		}
		index[i] = (uint32_t)number;
		entries[number].samples++;
	}
	coder->known = known;
}

/* The columns of 32 bits of a record at once: their order is the record's. */
typedef uint32_t ids __attribute__((vector_size(16), aligned(8), may_alias));
#define IDS_AT offsetof(struct store_record, context)
_Static_assert(IDS_AT + sizeof(ids) == sizeof(struct store_record), "four ids end a record");

unsigned store_dictionary_varies(const struct store_chunk_coder *coder, const struct store_record *records,
	unsigned at, unsigned count)
{
	ids differs = {0}, these, those;
	struct store_record any;
	uint64_t bytes = 0;

	if (coder->known > coder->most)
		return STORE_DICTIONARY_WORDS;
	for (unsigned i = at; i < at + count; i++) {
		const struct store_record *first = &records[coder->firsts[coder->index[i]]];

		memcpy(&these, (const uint8_t *)&records[i] + IDS_AT, sizeof these);
		memcpy(&those, (const uint8_t *)first + IDS_AT, sizeof those);
		differs |= these ^ those;
		bytes |= records[i].bytes ^ first->bytes;
	}
	memcpy((uint8_t *)&any + IDS_AT, &differs, sizeof differs);
	return (unsigned)(bytes != 0) << CHUNK_BYTES | (unsigned)(any.what != 0) << CHUNK_WHAT |
	       (unsigned)(any.attributes != 0) << CHUNK_ATTRIBUTES;
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

static uint32_t sampled(const struct store_sum *entry)
{
	return entry->samples < TABLE_SAMPLES ? (uint32_t)entry->samples : TABLE_SAMPLES;
}

void store_dictionary_sample(struct store_chunk_coder *coder, unsigned contexts)
{
	uint32_t wanted = 0, *next = coder->seen, *ends = (uint32_t *)coder->slots;

	for (unsigned at = 0; at < contexts; at++) {
		next[at] = wanted;
		wanted += sampled(&coder->entries[at]);
		ends[at] = wanted;
	}
	coder->sample_count = wanted;
	for (uint32_t i = 0; wanted; i++) {
		uint32_t at = coder->index[i];

		if (next[at] == ends[at])
			continue;
		coder->samples[next[at]++] = i;
		wanted--;
	}
}

void store_dictionary_table(
	struct store_chunk_coder *coder, enum chunk_column column, uint64_t *values, unsigned contexts)
{
	for (unsigned at = 0; at < contexts; at++) {
		uint32_t count = sampled(&coder->entries[at]);

		coder->tables[column][at] = median_of(values, count);
		values += count;
	}
}
