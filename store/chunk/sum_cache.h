/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_cache.h - what waits to be added to sums: a cache in front of their table, small enough for the nearest
 * one of the processor. A key has two slots side by side; a newer one takes the place of an older one, which
 * is added then. One stretch of a stream's line, or of all streams', has few keys, and most never meet.
 */
#ifndef STORE_SUM_CACHE_H
#define STORE_SUM_CACHE_H

#include "store/chunk/context_sums.h"

#define STORE_TALLY_BITS 11u
#define STORE_TALLY_SLOTS (1u << STORE_TALLY_BITS)

/* All-zero is empty. */
struct store_tally {
	uint64_t keys[STORE_TALLY_SLOTS]; /* metric << 32 | context, 0: free */
	struct store_tally_sum {
		uint64_t samples, time_ns;
	} sums[STORE_TALLY_SLOTS];
	uint64_t used[STORE_TALLY_SLOTS / 64]; /* a bit for each slot that is not free */
};

/* For store_tally_add() alone: the key is not in its first slot. */
void store_tally_add_beside(struct store_tally *tally, struct store_sums *to, unsigned slot, uint64_t key,
	const struct store_tally_sum *sum);

/* `metric` is not 0, and `to` is the same until end(). */
static inline void store_tally_add(struct store_tally *tally, struct store_sums *to, uint32_t context,
	uint32_t metric, uint64_t samples, uint64_t time_ns)
{
	const uint64_t key = (uint64_t)metric << 32 | context;
	const unsigned slot = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - STORE_TALLY_BITS));

	if (tally->keys[slot] != key) {
		store_tally_add_beside(tally, to, slot, key, &(struct store_tally_sum){samples, time_ns});
		return;
	}
	tally->sums[slot].samples += samples;
	tally->sums[slot].time_ns += time_ns;
}

/* All is added, and the tally empty. */
void store_tally_end(struct store_tally *tally, struct store_sums *to);

#endif
