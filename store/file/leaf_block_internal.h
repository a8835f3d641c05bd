/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_block_internal.h - decodes a bundle (leaf_block.h), with every offset checked: for tree.c. Pure
 * functions over bytes. */
#ifndef STORE_LEAF_BLOCK_INTERNAL_H
#define STORE_LEAF_BLOCK_INTERNAL_H

#include "store/base/bytes.h"

/* An all-zero one has no values. */
struct store_leaf_block {
	const uint8_t *keys, *ends, *values;
	size_t key_size, values_bytes;
	unsigned count;
};

/* True when the bundle starts with its key (store_tree_cursor.fits). */
bool store_leaf_block_fits(struct store_slice key, struct store_slice value);
/* False: the sizes do not fit, or it has another key. Does not check what store_leaf_block_is_sound()
 * checks. */
bool store_leaf_block_open(struct store_leaf_block *bundle, struct store_slice key, struct store_slice value);
/* True when the seal is right, and keys and ends rise. */
bool store_leaf_block_is_sound(
	const struct store_leaf_block *bundle, struct store_slice key, struct store_slice value);

static inline struct store_slice store_leaf_block_key(const struct store_leaf_block *bundle, unsigned index)
{
	return (struct store_slice){bundle->keys + index * bundle->key_size, bundle->key_size};
}
/* False: it is outside the bundle. */
static inline bool store_leaf_block_value(
	const struct store_leaf_block *bundle, unsigned index, struct store_slice *value)
{
	size_t from = index ? store_load16(bundle->ends + 2 * (index - 1)) : 0;
	size_t to = index + 1 < bundle->count ? store_load16(bundle->ends + 2 * index) : bundle->values_bytes;

	*value = (struct store_slice){bundle->values + from, to - from};
	return from <= to && to <= bundle->values_bytes;
}
/* Index of the first key not below that one; count: none. */
unsigned store_leaf_block_search(const struct store_leaf_block *bundle, struct store_slice key);

#endif
