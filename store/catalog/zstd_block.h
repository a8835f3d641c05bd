/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_block.h - texts, contexts and symbols as a settled store keeps them: many values as one zstd frame.
 * They are most of a short run, and say the same again and again. While a run is recorded they are values of
 * their own (append_block.h, symbol.c), since frames cannot grow.
 *
 *   value     | seal | bytes unpacked varint | zstd frame, or the bytes as they are |    key: the first one's
 *   unpacked  texts, contexts: entries back to back, as in append blocks
 *             symbols: | step | size | scopes | ...   of one module; step: offset - the one before, 0 first
 */
#ifndef STORE_ZSTD_BLOCK_H
#define STORE_ZSTD_BLOCK_H

#include "store/base/bytes.h"
#include "store/file/file.h"

/* A value takes entries until they are so many bytes: an answer unpacks one or two. */
#define STORE_ZSTD_BLOCK_BYTES ((size_t)64 << 10)
/* What is larger than that, one long text, is not packed: a frame of a few bytes cannot claim much memory. */
#define STORE_ZSTD_BLOCK_PACKED_MAX (2 * STORE_ZSTD_BLOCK_BYTES)

extern bool store_zstd_block_packs_nothing; /* fuzzing sets it, to have entries where bytes are changed */

/* Is the tree kept so in a dense store? */
bool store_zstd_block_has(enum store_tree_id tree);

/* Values of such a tree, in the order of their keys, on their way to dense ones. All-zero is empty. */
struct store_zstd_block {
	struct store_bytes entries, value;
	uint8_t key[16];
	size_t key_size;
	uint64_t offset; /* of the last symbol */
};
/* Must what was taken be put before a value of that key and size is taken? */
bool store_zstd_block_is_full(
	const struct store_zstd_block *dense, enum store_tree_id tree, struct store_slice key, size_t size);
/* Takes a sealed value; false: it is damaged. Without memory it is lost: dense->entries.failed. */
bool store_zstd_block_take(struct store_zstd_block *dense, enum store_tree_id tree, struct store_slice key,
	struct store_slice value);
/* What was taken, as dense->value under dense->key, and begins anew; false: memory is out. */
bool store_zstd_block_finish(struct store_zstd_block *dense);
void store_zstd_block_fini(struct store_zstd_block *dense);

/* What the payload of a dense value is unpacked, in bytes, of which it may still be that they are damaged;
 * 0: it is. */
size_t store_zstd_block_size(struct store_input input);
/* The payload of a dense value to `entries`, which is emptied before; false: damage, or entries->failed. */
bool store_zstd_block_unpack(struct store_input input, struct store_bytes *entries);

#endif
