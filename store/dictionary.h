/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the contexts of one chunk: numbered by descending frequency, so that small indices are
 * the common ones, and for some columns a typical value per context, which leaves little to store when
 * a kernel takes the same time and the same attributes at every launch.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/chunk.h"

/* Numbers the contexts of records into coder->entries, where their samples are counted, and coder->index,
 * part by part: those from `at` on, where the last part ended. Who has more to add to an entry does so before
 * the end, which orders them and gives how many there are; 0: no dictionary (more than `most`). */
void store_dictionary_begin(struct store_chunk_coder *coder, unsigned most);
void store_dictionary_add(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned at, unsigned count);
unsigned store_dictionary_end(struct store_chunk_coder *coder, unsigned count);

/* Columns that are mostly one per context. */
#define STORE_DICTIONARY_WORDS (1u << CHUNK_BYTES | 1u << CHUNK_WHAT | 1u << CHUNK_ATTRIBUTES)
/* In which of them some of the records that were just added are not as the first one of their context. */
unsigned store_dictionary_varies(const struct store_chunk_coder *coder, const struct store_record *records,
	unsigned at, unsigned count);
/* Takes the first few records of each context into coder->samples. */
void store_dictionary_sample(struct store_chunk_coder *coder, unsigned contexts);
/* Fills coder->tables[column] with the typical value (median) of each context. `values` are the column's, of
 * coder->samples; they lose their order. */
void store_dictionary_table(
	struct store_chunk_coder *coder, enum chunk_column column, uint64_t *values, unsigned contexts);

#endif
