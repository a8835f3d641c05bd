/* SPDX-License-Identifier: Apache-2.0 */
/* sum_cache.c - see sum_cache.h. */
#include "store/chunk/sum_cache.h"

static void put(const struct store_sum_cache *tally, struct store_context_sums *to, unsigned slot)
{
	store_context_sums_add(to, &(struct store_sum){.samples = tally->sums[slot].samples,
					   .weight = tally->sums[slot].time_ns,
					   .context = (uint32_t)tally->keys[slot],
					   .metric = (uint32_t)(tally->keys[slot] >> 32)});
}

void store_sum_cache_add_beside(struct store_sum_cache *tally, struct store_context_sums *to, unsigned slot,
	uint64_t key, const struct store_sum_cache_sum *sum)
{
	const unsigned beside = slot ^ 1;

	if (tally->keys[beside] == key) {
		tally->sums[beside].samples += sum->samples;
		tally->sums[beside].time_ns += sum->time_ns;
		return;
	}
	if (tally->keys[slot] && !tally->keys[beside])
		slot = beside;
	else if (tally->keys[slot])
		put(tally, to, slot);
	tally->keys[slot] = key;
	tally->sums[slot] = *sum;
	tally->used[slot / 64] |= (uint64_t)1 << slot % 64;
}

void store_sum_cache_end(struct store_sum_cache *tally, struct store_context_sums *to)
{
	for (unsigned w = 0; w < STORE_SUM_CACHE_SLOTS / 64; w++) {
		for (uint64_t used = tally->used[w]; used; used &= used - 1) {
			unsigned slot = 64 * w + (unsigned)__builtin_ctzll(used);

			put(tally, to, slot);
			tally->keys[slot] = 0;
		}
		tally->used[w] = 0;
	}
}
