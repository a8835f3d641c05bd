/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_encode_internal.h - what the files that encode chunks share: one chunk being encoded.
 */
#ifndef STORE_CHUNK_ENCODE_INTERNAL_H
#define STORE_CHUNK_ENCODE_INTERNAL_H

#include "store/chunk/chunk.h"

/* One chunk being encoded. */
struct store_chunk_draft {
	struct store_chunk_coder *coder;
	const struct store_record *records;
	unsigned count;
	struct store_bytes *out;
	size_t start;			    /* of the chunk in `out` */
	uint64_t longest_ns, shortest_ns;   /* between two records */
	unsigned varies;		    /* bits of columns that their tables do not describe
					       completely */
	uint8_t chosen[CHUNK_COLUMN_COUNT]; /* transforms of the block before */
	struct store_chunk_header header;
};

static inline bool store_chunk_draft_is_constant(
	const struct store_chunk_draft *draft, enum chunk_column column)
{
	return draft->header.constant >> column & 1;
}

/* Gathers one column of some records. */
void store_chunk_gather(
	uint64_t *to, enum chunk_column column, const struct store_record *from, unsigned count);
/* The same for records given by index. */
void store_chunk_gather_some(uint64_t *to, enum chunk_column column, const struct store_record *from,
	const uint32_t *numbers, unsigned count);
/* Like store_dictionary_add(), and adds the records' weights and times to the entries of their contexts. */
void store_chunk_add_sums(struct store_chunk_draft *draft, unsigned at, unsigned count);
/* Writes the sums by context behind the tables, where the chunk has any. */
void store_chunk_put_sums(struct store_chunk_draft *draft);
/* Writes one column of the block of `count` records from `at` on, with its smallest transform. */
void store_chunk_put_column(
	struct store_chunk_draft *draft, enum chunk_column column, unsigned at, unsigned count);

#endif
