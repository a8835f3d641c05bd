/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_block.h - compresses the texts, contexts and symbols of a settled store: many entries in one zstd
 * frame. They are most of a short run and repeat much. While a run is recorded they are values of their own
 * (append_block.h, symbol.c), because a frame cannot grow.
 *
 *   value     | seal | bytes unpacked varint | zstd frame, or the bytes as they are |   key: the first one's
 *   unpacked  texts, contexts: entries back to back, as in append blocks
 *             symbols: | step | size | scopes | ...   of one module; step: offset - previous offset, 0 first
 */
#ifndef STORE_ZSTD_BLOCK_H
#define STORE_ZSTD_BLOCK_H

#include "store/base/bytes.h"
#include "store/file/file.h"

/* A block takes entries up to this size; a query decompresses one or two blocks. */
#define STORE_ZSTD_BLOCK_BYTES ((size_t)64 << 10)
/* Larger blocks (one long text) are stored uncompressed, so that a frame of a few bytes cannot claim much
 * memory. */
#define STORE_ZSTD_BLOCK_PACKED_MAX (2 * STORE_ZSTD_BLOCK_BYTES)

extern bool store_zstd_block_packs_nothing; /* fuzzing sets it, to mutate entries and not compressed bytes */

/* True when a settled store compresses this tree. */
bool store_zstd_block_has(enum store_tree_id tree);

/* Collects values of such a tree, in key order, into blocks. All-zero is empty. */
struct store_zstd_block {
	struct store_bytes entries, value;
	uint8_t key[16];
	size_t key_size;
	uint64_t offset; /* of the last symbol */
};
/* True when the block must be written before a value of that key and size is added. */
bool store_zstd_block_is_full(
	const struct store_zstd_block *block, enum store_tree_id tree, struct store_slice key, size_t size);
/* Adds a sealed value; false: it is damaged. Without memory it sets entries.failed and loses the value. */
bool store_zstd_block_take(struct store_zstd_block *block, enum store_tree_id tree, struct store_slice key,
	struct store_slice value);
/* Builds the block as block->value under block->key and starts a new one; false: no memory. */
bool store_zstd_block_finish(struct store_zstd_block *block);
void store_zstd_block_fini(struct store_zstd_block *block);

/* Bytes of the payload when decompressed, before it is checked; 0: damaged. */
size_t store_zstd_block_size(struct store_input input);
/* Decompresses the payload into `entries`, which it empties first; false: damage, or entries->failed. */
bool store_zstd_block_unpack(struct store_input input, struct store_bytes *entries);

#endif
