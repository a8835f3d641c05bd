/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_cache.h - a cache in front of a table of sums, small enough for the L1 cache. A key has two adjacent
 * slots; a new key evicts the older one, which is then added to the table. A short stretch of a timeline has
 * few keys, and most hit the cache.
 */
#ifndef STORE_SUM_CACHE_H
#define STORE_SUM_CACHE_H

#include "store/chunk/context_sums.h"

#define STORE_SUM_CACHE_BITS 11u
#define STORE_SUM_CACHE_SLOTS (1u << STORE_SUM_CACHE_BITS)

/* All-zero is empty. */
struct store_sum_cache {
	uint64_t keys[STORE_SUM_CACHE_SLOTS]; /* metric << 32 | context, 0: free */
	struct store_sum_cache_sum {
		uint64_t samples, time_ns;
	} sums[STORE_SUM_CACHE_SLOTS];
	uint64_t used[STORE_SUM_CACHE_SLOTS / 64]; /* a bit for each slot in use */
};

/* For store_sum_cache_add() only: the key is not in its first slot. */
void store_sum_cache_add_beside(struct store_sum_cache *tally, struct store_context_sums *to, unsigned slot,
	uint64_t key, const struct store_sum_cache_sum *sum);

/* `metric` is not 0, and `to` stays the same until end(). */
static inline void store_sum_cache_add(struct store_sum_cache *tally, struct store_context_sums *to,
	uint32_t context, uint32_t metric, uint64_t samples, uint64_t time_ns)
{
	const uint64_t key = (uint64_t)metric << 32 | context;
	const unsigned slot = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - STORE_SUM_CACHE_BITS));

	if (tally->keys[slot] != key) {
		store_sum_cache_add_beside(
			tally, to, slot, key, &(struct store_sum_cache_sum){samples, time_ns});
		return;
	}
	tally->sums[slot].samples += samples;
	tally->sums[slot].time_ns += time_ns;
}

/* Adds everything to `to` and empties the cache. */
void store_sum_cache_end(struct store_sum_cache *tally, struct store_context_sums *to);

#endif
