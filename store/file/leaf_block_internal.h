/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_block_internal.h - what lies in a bundle (leaf_block.h), distrusted: for tree.c. Pure functions over
 * bytes. */
#ifndef STORE_LEAF_BLOCK_INTERNAL_H
#define STORE_LEAF_BLOCK_INTERNAL_H

#include "store/base/bytes.h"

/* An all-zero one has no values. */
struct store_leaf_block {
	const uint8_t *keys, *ends, *values;
	size_t key_size, values_bytes;
	unsigned count;
};

/* Does the bundle begin with its key? (store_tree_cursor.fits) */
bool store_leaf_block_fits(struct store_slice key, struct store_slice value);
/* False: it does not fit its bytes, or is not that key's. What store_leaf_block_is_sound() looks at is
 * believed.
 */
bool store_leaf_block_open(struct store_leaf_block *bundle, struct store_slice key, struct store_slice value);
/* Does the seal fit, do keys and ends rise? */
bool store_leaf_block_is_sound(
	const struct store_leaf_block *bundle, struct store_slice key, struct store_slice value);

static inline struct store_slice store_leaf_block_key(const struct store_leaf_block *bundle, unsigned index)
{
	return (struct store_slice){bundle->keys + index * bundle->key_size, bundle->key_size};
}
/* False: it does not lie in the bundle. */
static inline bool store_leaf_block_value(
	const struct store_leaf_block *bundle, unsigned index, struct store_slice *value)
{
	size_t from = index ? store_load16(bundle->ends + 2 * (index - 1)) : 0;
	size_t to = index + 1 < bundle->count ? store_load16(bundle->ends + 2 * index) : bundle->values_bytes;

	*value = (struct store_slice){bundle->values + from, to - from};
	return from <= to && to <= bundle->values_bytes;
}
/* The first whose key is not below that one; count: there is none. */
unsigned store_leaf_block_search(const struct store_leaf_block *bundle, struct store_slice key);

#endif
