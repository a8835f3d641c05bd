/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup.h - rollups of a stream's state timeline: the exact time of each (state, operation, context)
 * in one bucket of 2^shift ns. state_rollup_builder.c makes them while records are appended; readers use
 * them instead of sweeping the records (timeline/sum/state_sum.c).
 *
 *   key     | stream | kind STATES | begin | shift |      (key.h)
 *   value   sealed: | flags | period | four edges | sums |      (context_sums.h)
 *
 *   edges   of the stream's life and of what is monitored, as far as they cut the bucket, from its begin
 *   sums    metric = state + 16 x operation, samples = records that begin, weight = ns
 *
 * Flags, period and edges are the rules of the sweep. A reader that has other rules (the stream turned out
 * to have switch records) skips the rollup.
 */
#ifndef STORE_STATE_ROLLUP_H
#define STORE_STATE_ROLLUP_H

#include "store/chunk/context_sums.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/states/state_timeline.h"

#define STORE_ROLLUP_STATES 3u	   /* kind in the key, behind the tracks */
#define STORE_STATE_ROLLUP_STEP 3u /* sizes are 2^3, 2^6, ... 2^60 ns */
#define STORE_STATE_ROLLUP_SIZES 21u

static inline uint32_t store_state_rollup_metric(enum extent_state state, uint32_t op)
{
	return (uint32_t)state | op << 4;
}

/* A rollup found. */
struct store_state_rollup {
	struct store_key_rollup key;
	struct store_slice value;
};

/* Appends the rollup's value to a buffer begun as a sealed one. */
void store_state_rollup_put(struct store_bytes *out, const struct store_key_rollup *key,
	const struct state_rules *rules, struct store_context_sums *sums);

/* The first rollup of the stream's timeline whose key is not below (from_ns, shift), largest first where
 * several begin together. 1: found, valid until the reader renews; 0: none; negative. */
int store_state_rollup_find(struct store_reader *reader, uint32_t stream, uint64_t from_ns, unsigned shift,
	struct store_state_rollup *found, struct error *error);

/* Its sums, valid until the reader's next call: 1; 0: it was made with other rules; negative. */
int store_state_rollup_read(struct store_reader *reader, const struct store_state_rollup *roll,
	const struct state_rules *rules, const struct store_context_sums **sums, struct error *error);

#endif
