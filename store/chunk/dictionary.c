/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - numbers the contexts of a chunk while it is encoded.
 */
#include "store/chunk/dictionary.h"

#include <stddef.h>
#include <stdlib.h>

#include "store/base/avx2.h"
#include "store/chunk/context_sums.h"

#define SLOTS_FIRST 512u
#define SLOTS_GROWTH 8u
#define SLOTS_EACH 4u	 /* for a context, at least: so most are in their first */
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
			       5 * records * sizeof *coder->index);
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
	coder->rank = coder->firsts + records;
	return true;
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

/* Most chunks have few contexts, whose slots had better stay in the nearest cache. */
static void slots_grow(struct store_chunk_coder *coder, uint32_t known)
{
	slots_begin(coder, coder->slot_count * SLOTS_GROWTH);
	for (uint32_t i = 0; i < known; i++) {
		size_t at = store_dictionary_slot(coder->entries[i].context, coder->slot_count - 1);

		while (coder->slots[at])
			at = (at + 1) & (coder->slot_count - 1);
		coder->slots[at] = slot_with(coder->entries[i].context, i);
	}
}

uint32_t store_dictionary_behind(struct store_chunk_coder *coder, uint32_t id, unsigned i)
{
	size_t at = store_dictionary_slot(id, coder->slot_count - 1);
	uint32_t number = coder->known;

	for (; coder->slots[at]; at = (at + 1) & (coder->slot_count - 1))
		if (store_dictionary_number(coder->slots[at], id) < STORE_DICTIONARY_OTHERS)
			return (uint32_t)store_dictionary_number(coder->slots[at], id);
	coder->entries[number] = (struct store_sum){.context = id};
	coder->firsts[number] = i;
	coder->slots[at] = slot_with(id, number);
	coder->known++;
	if (coder->known > coder->slot_count / SLOTS_EACH && coder->slot_count < SLOTS_MAX)
		slots_grow(coder, coder->known);
	return number;
}

static uint32_t place_of(uint64_t uses)
{
	return USES_KEPT - 1 - (uint32_t)(uses < USES_KEPT ? uses : USES_KEPT - 1);
}

/* Sorts entries by descending use (counting sort). */
static void order_by_use(struct store_chunk_coder *coder)
{
	uint32_t starts[USES_KEPT + 1] = {0}, *rank = coder->rank;
	struct store_sum *entries = coder->entries;

	for (uint32_t i = 0; i < coder->known; i++)
		starts[place_of(entries[i].samples) + 1]++;
	for (uint32_t use = 1; use <= USES_KEPT; use++)
		starts[use] += starts[use - 1];
	for (uint32_t i = 0; i < coder->known; i++) {
		rank[i] = starts[place_of(entries[i].samples)]++;
		coder->ordered[rank[i]] = entries[i];
	}
	coder->entries = coder->ordered;
	coder->ordered = entries;
}

void store_dictionary_begin(struct store_chunk_coder *coder, unsigned most)
{
	slots_begin(coder, SLOTS_FIRST);
	coder->known = 0;
	coder->most = most;
}

static inline unsigned add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count)
{
	struct store_sum *const entries = coder->entries;
	const uint64_t *const slots = coder->slots;
	const uint32_t *const firsts = coder->firsts;
	uint32_t *const index = coder->index;
	store_words differs = {0}, these, those;
	size_t mask = coder->slot_count - 1;
	struct store_record any;

	if (coder->known > coder->most)
		return STORE_DICTIONARY_WORDS;
	for (unsigned i = at; i < at + count; i++) {
		uint64_t number = store_dictionary_look(slots, mask, records[i].context);

		if (number >= STORE_DICTIONARY_OTHERS) {
			number = store_dictionary_behind(coder, records[i].context, i);
			mask = coder->slot_count - 1;
			if (coder->known > coder->most)
				return STORE_DICTIONARY_WORDS;
		}
		index[i] = (uint32_t)number;
		entries[number].samples++;
		memcpy(&these, (const uint8_t *)&records[i] + STORE_CHUNK_STATS_HIGH, sizeof these);
		memcpy(&those, (const uint8_t *)&records[firsts[number]] + STORE_CHUNK_STATS_HIGH,
			sizeof those);
		differs |= these ^ those;
	}
	memcpy((uint8_t *)&any + STORE_CHUNK_STATS_HIGH, &differs, sizeof differs);
	return (unsigned)(any.bytes != 0) << CHUNK_BYTES | (unsigned)(any.what != 0) << CHUNK_WHAT |
	       (unsigned)(any.attributes != 0) << CHUNK_ATTRIBUTES;
}
_Static_assert(
	offsetof(struct store_record, bytes) == STORE_CHUNK_STATS_HIGH, "what is compared ends a record");

#ifdef STORE_HAS_AVX2
STORE_AVX2 static unsigned add_wide(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count)
{
	return add(coder, records, at, count);
}
#endif

unsigned store_dictionary_add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return add_wide(coder, records, at, count);
#endif
	return add(coder, records, at, count);
}

unsigned store_dictionary_end(struct store_chunk_coder *coder)
{
	if (coder->known > coder->most)
		return 0;
	order_by_use(coder);
	return coder->known;
}

/* The largest of up to seven below which there are no more than half of them: no jump depends on what they
 * are. */
static uint64_t median_of(const uint64_t *values, unsigned count)
{
	uint64_t median = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned below = 0;
		bool is_larger;

		for (unsigned other = 0; other < count; other++)
			below += values[other] < values[i];
		is_larger = (below <= count / 2) & (values[i] > median);
		median = is_larger ? values[i] : median;
	}
	return median;
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
		uint32_t at = coder->rank[coder->index[i]];

		if (next[at] == ends[at])
			continue;
		coder->samples[next[at]++] = i;
		wanted--;
	}
}

void store_dictionary_table(
	struct store_chunk_coder *coder, enum chunk_column column, uint64_t *values, unsigned contexts)
{
	const uint64_t *from = values;

	/* What is written is never behind what is read: each context has a value at least. */
	for (unsigned at = 0; at < contexts; at++) {
		uint32_t count = sampled(&coder->entries[at]);

		values[at] = median_of(from, count);
		from += count;
	}
	for (unsigned number = 0; number < contexts; number++)
		coder->tables[column][number] = values[coder->rank[number]];
}
