/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the contexts of one chunk: numbered by descending frequency, so that small indices are
 * the common ones, and for some columns a typical value per context, which leaves little to store when
 * a kernel takes the same time and the same attributes at every launch.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/chunk/chunk.h"

/* Columns that are mostly one per context. */
#define STORE_DICTIONARY_WORDS (1u << CHUNK_BYTES | 1u << CHUNK_WHAT | 1u << CHUNK_ATTRIBUTES)

/* Numbers the contexts of records into coder->entries, where their samples are counted, and coder->index,
 * part by part: those from `at` on, where the last part ended. Who has more to add to an entry does so before
 * the end, which orders them and gives how many there are; 0: no dictionary (more than `most`, which stops
 * the numbering). Of the columns above, add() says in which some of these records are not as the first one of
 * their context. */
void store_dictionary_begin(struct store_chunk_coder *coder, unsigned most);
unsigned store_dictionary_add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count);
unsigned store_dictionary_end(struct store_chunk_coder *coder);

/* For who adds more than samples to the entries in the same walk. */

#define STORE_DICTIONARY_OTHERS UINT32_MAX
static inline size_t store_dictionary_slot(uint32_t id, size_t mask)
{
	return (id * 0x9e3779b1u >> 7) & mask;
}
/* The number in a slot; OTHERS or more: it is another context's or, even for context 0, nobody's. */
static inline uint64_t store_dictionary_number(uint64_t slot, uint32_t id)
{
	return (slot ^ (uint64_t)id << 32) - 1;
}
/* The number of record i's context, which is not in its first slot; there may be more slots then, or more
 * than `most` contexts, which ends the walk. */
__attribute__((noinline)) uint32_t store_dictionary_behind(
	struct store_chunk_coder *coder, uint32_t id, unsigned i);
/* The number of a context as its first slot of `mask` + 1 has it, or OTHERS or more. */
static inline uint64_t store_dictionary_look(const uint64_t *slots, size_t mask, uint32_t id)
{
	return store_dictionary_number(slots[store_dictionary_slot(id, mask)], id);
}

/* Takes the first few records of each context into coder->samples. */
void store_dictionary_sample(struct store_chunk_coder *coder, unsigned contexts);
/* Fills coder->tables[column] with the typical value (median) of each context. `values` are the column's, of
 * coder->samples; they become those medians, in the order of the dictionary. */
void store_dictionary_table(
	struct store_chunk_coder *coder, enum chunk_column column, uint64_t *values, unsigned contexts);

#endif
