/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_stats.h - what the records of a chunk have in common, found while they are copied into its builder:
 * they are in the nearest cache then, and need not be walked through once more.
 */
#ifndef STORE_CHUNK_STATS_H
#define STORE_CHUNK_STATS_H

#include "store/store.h"

/* A record is seven words: the first four and the last four of them at once. */
typedef uint64_t store_words __attribute__((vector_size(32), aligned(8), may_alias));
#define STORE_CHUNK_STATS_HIGH (sizeof(struct store_record) - sizeof(store_words))
_Static_assert(sizeof(struct store_record) == 56 && STORE_CHUNK_STATS_HIGH == 24,
	"two times four words cover a record");

/* All-zero is that of no records. */
struct store_chunk_stats {
	store_words low, high; /* bits that are not the same in all */
	store_words any_high;  /* bits that some have */
	uint64_t duration_differs, end_ns;
};

/* Of each field but the end, the bits that are not the same in all. */
struct store_record store_chunk_stats_differs(const struct store_chunk_stats *survey);

/* Adds records; `first` is one of those, or of those before. */
void store_chunk_stats_add(struct store_chunk_stats *survey, const struct store_record *first,
	const struct store_record *records, unsigned count);

/* Where records may go without being looked at one by one. */
struct store_chunk_stats_bounds {
	uint64_t width_ns;   /* they begin in a bucket as wide, a power of two, ... */
	uint64_t longest_ns; /* ... and are shorter, a power of two */
};

/* Copies records from the first on to `to`, as long as they are in bounds, and adds them, in small groups;
 * how many. `first` is a record of the survey, or the first of these, and begins in the bucket. *rises stays:
 * each begins behind the one before. `to` has room for all, what is behind those taken is not what it was. */
unsigned store_chunk_stats_take(struct store_chunk_stats *survey,
	const struct store_chunk_stats_bounds *bounds, const struct store_record *first,
	const struct store_record *records, unsigned count, struct store_record *to, bool *rises);

#endif
