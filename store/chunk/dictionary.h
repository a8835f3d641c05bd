/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the contexts of one chunk, numbered by descending frequency so that common ones get small
 * indices. Some columns also get a typical value per context, which leaves little to store when a kernel has
 * the same duration and attributes at every launch.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/chunk/chunk.h"

/* Columns that mostly have one value per context. */
#define STORE_DICTIONARY_WORDS (1u << CHUNK_BYTES | 1u << CHUNK_WHAT | 1u << CHUNK_ATTRIBUTES)

/* Numbers the contexts of records: counts samples in coder->entries and fills coder->index, part by part
 * from `at` on. The caller may add more to an entry before end(), which sorts the entries and returns their
 * number; 0: no dictionary (more than `most` contexts, which stops the numbering). add() returns the columns
 * of the above in which some of these records differ from the first one of their context. */
void store_dictionary_begin(struct store_chunk_coder *coder, unsigned most);
unsigned store_dictionary_add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count);
unsigned store_dictionary_end(struct store_chunk_coder *coder);

/* For callers that add more than samples to the entries in the same pass. */

#define STORE_DICTIONARY_OTHERS UINT32_MAX
static inline size_t store_dictionary_slot(uint32_t id, size_t mask)
{
	return (id * 0x9e3779b1u >> 7) & mask;
}
/* The number in a slot; OTHERS or more: the slot is free or another context's. */
static inline uint64_t store_dictionary_number(uint64_t slot, uint32_t id)
{
	return (slot ^ (uint64_t)id << 32) - 1;
}
/* The slow path: the number of record i's context, which is not in its first slot. May grow the slots, or
 * stop the pass at more than `most` contexts. */
__attribute__((noinline)) uint32_t store_dictionary_behind(
	struct store_chunk_coder *coder, uint32_t id, unsigned i);
/* The number of a context from its first slot of `mask` + 1 slots; OTHERS or more: not there. */
static inline uint64_t store_dictionary_look(const uint64_t *slots, size_t mask, uint32_t id)
{
	return store_dictionary_number(slots[store_dictionary_slot(id, mask)], id);
}

/* Copies the first few records of each context to coder->samples. */
void store_dictionary_sample(struct store_chunk_coder *coder, unsigned contexts);
/* Fills coder->tables[column] with the typical value (median) of each context. `values` are the column's, of
 * coder->samples; they are replaced by the medians, in dictionary order. */
void store_dictionary_table(
	struct store_chunk_coder *coder, enum chunk_column column, uint64_t *values, unsigned contexts);

#endif
