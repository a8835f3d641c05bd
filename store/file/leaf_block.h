/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaf_block.h - many small values of a tree as one: what a settled store's trees hold. On pages of their
 * own, or as nodes of LMDB's, values of some hundred bytes cost a fifth on top. A bundle fills a page, or
 * whole ones to their end; its values lie as they would alone, so they are read where they are.
 *
 *   value | seal u32 | count u16 | key size u16 | keys | count - 1 x end of a value u16 | values |
 *         key: the first one's; ends count from the first value's begin; the last one ends where the bundle
 * does
 *
 * The seal is that of what lies before the values, under the key: values have sums of their own.
 */
#ifndef STORE_LEAF_BLOCK_H
#define STORE_LEAF_BLOCK_H

#include "store/file/file.h"

/* Less a page's header, so that it takes whole pages of any size that a store has. One value that is longer
 * is a bundle of its own. */
#define STORE_LEAF_BLOCK_BYTES (8192u - STORE_PAGE_HEADER)
#define STORE_LEAF_BLOCK_HEAD_BYTES 8u

/* Is the tree kept so in a bundled store? All but the facts, which say that it is one, and the streams
 * (stream_block.h). */
bool store_leaf_block_has(enum store_tree_id tree);

/* ---- to bundles ---- */

/* Values in the order of their keys. All-zero is empty. */
struct store_leaf_block_draft {
	struct store_bytes keys, ends, values, value;
	size_t key_size;
	uint32_t count;
};
/* Must what was taken be put before a value of such sizes is taken? */
bool store_leaf_block_is_full(const struct store_leaf_block_draft *draft, size_t key_size, size_t value_size);
void store_leaf_block_take(
	struct store_leaf_block_draft *draft, struct store_slice key, struct store_slice value);
/* What was taken to *key and *value, which stay until the next one is finished; false: memory is out. */
bool store_leaf_block_finish(
	struct store_leaf_block_draft *draft, struct store_slice *key, struct store_slice *value);
void store_leaf_block_fini(struct store_leaf_block_draft *draft);
/* What a bundle takes for so many keys and values. */
static inline size_t store_leaf_block_bytes(uint64_t count, size_t key_size, uint64_t values_bytes)
{
	return STORE_LEAF_BLOCK_HEAD_BYTES + (size_t)(count * key_size + 2 * (count - 1) + values_bytes);
}

#endif
