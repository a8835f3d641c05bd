/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_stats.h - statistics of a chunk's records (which fields are constant), collected while records are
 * copied into the builder and still in the L1 cache, which saves a second pass.
 */
#ifndef STORE_CHUNK_STATS_H
#define STORE_CHUNK_STATS_H

#include "store/store.h"

/* A record has seven words: its first four and its last four overlap in one. */
typedef uint64_t store_words __attribute__((vector_size(32), aligned(8), may_alias));
#define STORE_CHUNK_STATS_HIGH (sizeof(struct store_record) - sizeof(store_words))
_Static_assert(sizeof(struct store_record) == 56 && STORE_CHUNK_STATS_HIGH == 24,
	"two times four words cover a record");

/* All-zero is for no records. */
struct store_chunk_stats {
	store_words low, high; /* bits that differ between records */
	store_words any_high;  /* bits set in any record */
	uint64_t duration_differs, end_ns;
};

/* For each field but the end, the bits that differ between records. */
struct store_record store_chunk_stats_differs(const struct store_chunk_stats *survey);

/* Adds records; `first` is any record among them or added before. */
void store_chunk_stats_add(struct store_chunk_stats *survey, const struct store_record *first,
	const struct store_record *records, unsigned count);

/* Bounds within which records may be copied in groups. */
struct store_chunk_stats_bounds {
	uint64_t width_ns;   /* they begin in a bucket of this width, a power of two, ... */
	uint64_t longest_ns; /* ... and are shorter than this, a power of two */
};

/* Copies and adds records in small groups while they stay within the bounds; returns how many. `first` is a
 * record added before, or the first of these, and begins in the bucket. *rises stays true while each begins
 * after the one before. `to` has room for all; bytes behind the copied records are overwritten. */
unsigned store_chunk_stats_take(struct store_chunk_stats *survey,
	const struct store_chunk_stats_bounds *bounds, const struct store_record *first,
	const struct store_record *records, unsigned count, struct store_record *to, bool *rises);

#endif
