/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaf_block.h - packs many small values of a settled store's tree into one value, a bundle. As LMDB nodes,
 * or on pages of their own, values of some hundred bytes take a fifth more space. A bundle fills whole
 * pages; its values are stored unchanged, so they are read in place.
 *
 *   value | seal u32 | count u16 | key size u16 | keys | count - 1 x end of a value u16 | values |
 *         key: the first one's; ends count from the first value's begin; the last value ends with the bundle
 *
 * The seal covers what precedes the values, which have checksums of their own.
 */
#ifndef STORE_LEAF_BLOCK_H
#define STORE_LEAF_BLOCK_H

#include "store/file/file.h"

/* Less a page's header, so that a bundle takes whole pages of any page size. A longer value is a bundle of
 * its own. */
#define STORE_LEAF_BLOCK_BYTES (8192u - STORE_PAGE_HEADER)
#define STORE_LEAF_BLOCK_HEAD_BYTES 8u

/* True when a settled store bundles this tree: all but the facts (they say whether trees are bundled) and
 * the streams (stream_block.h). */
bool store_leaf_block_has(enum store_tree_id tree);

/* ---- writing ---- */

/* Collects values in key order. All-zero is empty. */
struct store_leaf_block_draft {
	struct store_bytes keys, ends, values, value;
	size_t key_size;
	uint32_t count;
};
/* True when the bundle must be written before a value of such sizes is added. */
bool store_leaf_block_is_full(const struct store_leaf_block_draft *draft, size_t key_size, size_t value_size);
void store_leaf_block_take(
	struct store_leaf_block_draft *draft, struct store_slice key, struct store_slice value);
/* Builds the bundle: *key and *value, valid until the next finish; false: no memory. */
bool store_leaf_block_finish(
	struct store_leaf_block_draft *draft, struct store_slice *key, struct store_slice *value);
void store_leaf_block_fini(struct store_leaf_block_draft *draft);
/* Bytes of a bundle with so many keys and values. */
static inline size_t store_leaf_block_bytes(uint64_t count, size_t key_size, uint64_t values_bytes)
{
	return STORE_LEAF_BLOCK_HEAD_BYTES + (size_t)(count * key_size + 2 * (count - 1) + values_bytes);
}

#endif
