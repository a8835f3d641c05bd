/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_prune.c - see rollup_prune.h. */
#include "store/write/rollup_prune.h"

#include "store/key.h"
#include "store/states/state_rollup.h"
#include "store/store.h"

bool store_rollup_prune_none;

#define SHARE 5u	 /* chunks are so many times as large */
#define SMALL_BYTES 512u /* what is smaller is as cheap to keep as to look for */

/* Adds the sizes of a track's chunks below the rollup, until they are `enough`. */
static uint64_t chunk_bytes(const struct store_snapshot *snapshot, const struct store_key_rollup *roll,
	enum store_track track, uint64_t enough)
{
	struct store_key_chunk from = {.bucket_ns = roll->begin_ns,
		.stream = roll->stream == STORE_ROLLUP_ALL ? 0 : roll->stream,
		.track = (uint8_t)track,
		.shift = STORE_SHIFT_MAX};
	uint8_t key[STORE_KEY_CHUNK_BYTES];
	struct store_tree_cursor cursor;
	struct store_key_chunk at;
	uint64_t bytes = 0;
	int rc;

	store_key_chunk_put(key, &from);
	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, key, sizeof key, NULL);
	for (; rc == 1 && bytes < enough; rc = store_tree_next(&cursor, NULL)) {
		if (!store_key_chunk_get(&at, cursor.key.bytes, cursor.key.size))
			break;
		if (roll->stream == STORE_ROLLUP_ALL) {
			bytes += at.track == track ? cursor.value.size : 0;
			continue;
		}
		if (at.stream != roll->stream || at.track != track ||
			(at.bucket_ns - roll->begin_ns) >> roll->shift)
			break;
		bytes += at.shift <= roll->shift ? cursor.value.size : 0;
	}
	return bytes;
}

bool store_rollup_prune_keeps(const struct store_snapshot *snapshot, struct store_slice key, size_t size)
{
	const uint64_t enough = (uint64_t)size * SHARE;
	struct store_key_rollup roll;
	uint64_t bytes;

	if (store_rollup_prune_none || size < SMALL_BYTES ||
		!store_key_rollup_get(&roll, key.bytes, key.size))
		return true;
	switch (roll.kind) {
	case STORE_SAMPLES:
	case STORE_VALUES:
		return chunk_bytes(snapshot, &roll, (enum store_track)roll.kind, enough) >= enough;
	case STORE_ROLLUP_STATES:
		bytes = chunk_bytes(snapshot, &roll, STORE_SAMPLES, enough);
		return bytes >= enough ||
		       bytes + chunk_bytes(snapshot, &roll, STORE_SPANS, enough - bytes) >= enough;
	default:
		return true;
	}
}
