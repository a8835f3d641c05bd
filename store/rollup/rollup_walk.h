/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_walk.h - covers a window of a track with as few parts as possible: rollups inside the window,
 * chunks at its edges. The writer makes larger rollups from these parts, readers sum windows.
 *
 *   window            [begin ............................................. end)
 *   rollups 2^38            |==========================|
 *   rollups 2^36   |--------|                          |--------|--------|----
 *   chunks         |--|=====|                          |==|==|==|
 *   parts            cut sum           sum             sum sum cut
 *
 * A rollup of 2^s ns sums the chunks of its time whose buckets are at most 2^s ns, so each chunk is in one
 * part: larger chunks precede the rollup in key order. If a rollup is missing or rejected, the walk returns
 * the parts it would sum.
 */
#ifndef STORE_ROLLUP_WALK_H
#define STORE_ROLLUP_WALK_H

#include "store/chunk/chunk.h"
#include "store/read/reader.h"

#define STORE_ROLLUP_STEP 2u /* the writer makes rollups of 2^2, 2^4, ... 2^62 ns */

/* Source of keys and values: a snapshot, or a transaction. */
struct store_rollup_source {
	void *own;
	/* The first chunk or rollup whose key is not below: 1; 0: none; negative. The entry stays valid
	 * until the source changes. */
	int (*seek)(void *own, bool is_roll, const uint8_t *key, size_t key_size, struct store_slice *found,
		struct store_slice *value, struct error *error);
};

struct store_rollup_walk_part {
	bool is_roll;
	struct store_key_rollup roll;
	struct store_slice value; /* of a rollup: sealed sums */
	struct store_key_chunk key;
	struct store_slice bytes; /* of a chunk */
	bool is_cut;		  /* some of the chunk's records may be outside the window */
};

struct store_rollup_walk {
	const struct store_rollup_source *source;
	uint64_t begin_ns, end_ns;
	uint32_t stream;
	uint8_t track;
	uint64_t shifts; /* bucket sizes still to be searched for the window's begin */
	uint64_t sizes;	 /* of buckets that may exist */
	/* From here to the window's begin, the skipped chunks of buckets that reach into the window hold no
	 * record. */
	uint64_t clear_ns;
	struct head {
		bool is_known, is_there;
		uint64_t from_ns; /* key time of the next entry */
		uint8_t from_shift;
		uint16_t from_sequence;
		union {
			struct store_key_chunk chunk;
			struct store_key_rollup roll;
		};
		struct store_slice value;
	} chunk, roll, lead;
};

/* The parts that hold the samples of [begin, end). `shifts`: of the stream's track. */
void store_rollup_walk_init(struct store_rollup_walk *walk, const struct store_rollup_source *source,
	uint32_t stream, enum store_track track, uint64_t begin_ns, uint64_t end_ns, uint64_t shifts);
/* The parts that a rollup sums. */
void store_rollup_walk_init_inner(struct store_rollup_walk *walk, const struct store_rollup_source *source,
	const struct store_key_rollup *rollup);
/* 1: *part is the next one; 0: no more; negative. */
int store_rollup_walk_next(
	struct store_rollup_walk *walk, struct store_rollup_walk_part *part, struct error *error);
/* Rejects the last rollup; the walk returns its parts instead. */
void store_rollup_walk_refuse(struct store_rollup_walk *walk, const struct store_key_rollup *rollup);

/* The last ns of a bucket. */
static inline uint64_t store_rollup_last(uint64_t begin_ns, unsigned shift)
{
	return begin_ns + (((uint64_t)1 << shift) - 1);
}

#endif
