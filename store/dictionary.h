/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the contexts of one chunk: numbered by descending frequency, so that small indices are
 * the common ones, and for some columns a typical value per context, which leaves little to store when
 * a kernel takes the same time and the same attributes at every launch.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/chunk.h"

/* Numbers the contexts of the records into coder->ids and coder->index; their count, 0: no dictionary
 * (more than `most` different ones). */
unsigned store_dictionary_build(
	struct store_chunk_coder *coder, const struct store_record *records, unsigned count, unsigned most);

/* Fills coder->tables[column] with the typical value (median of the first few) of `values` per context. */
void store_dictionary_table(struct store_chunk_coder *coder, enum chunk_column column, const uint64_t *values,
	unsigned count, unsigned contexts);

#endif
