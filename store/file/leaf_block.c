/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_block.c - see leaf_block.h and leaf_block_internal.h. */
#include "store/file/leaf_block.h"

#include "store/base/hash.h"
#include "store/file/leaf_block_internal.h"
#include "store/file/node.h"

bool store_leaf_block_has(enum store_tree_id tree)
{
	return tree != STORE_TREE_META && tree != STORE_TREE_STREAM;
}

/* ---- writing ---- */

bool store_leaf_block_is_full(const struct store_leaf_block_draft *draft, size_t key_size, size_t value_size)
{
	return draft->count && (key_size != draft->key_size ||
				       store_leaf_block_bytes(draft->count + 1, key_size,
					       draft->values.size + value_size) > STORE_LEAF_BLOCK_BYTES);
}

static void put16(struct store_bytes *bytes, size_t number)
{
	const uint16_t value = (uint16_t)number;

	store_bytes_put(bytes, &value, sizeof value);
}

void store_leaf_block_take(
	struct store_leaf_block_draft *draft, struct store_slice key, struct store_slice value)
{
	if (draft->count)
		put16(&draft->ends, draft->values.size);
	draft->key_size = key.size;
	draft->count++;
	store_bytes_put(&draft->keys, key.bytes, key.size);
	store_bytes_put(&draft->values, value.bytes, value.size);
}

bool store_leaf_block_finish(
	struct store_leaf_block_draft *draft, struct store_slice *key, struct store_slice *value)
{
	struct store_bytes *out = &draft->value;

	store_bytes_begin_sealed(out);
	put16(out, draft->count);
	put16(out, draft->key_size);
	store_bytes_put(out, draft->keys.data, draft->keys.size);
	store_bytes_put(out, draft->ends.data, draft->ends.size);
	if (!out->failed && draft->keys.data)
		store_bytes_seal(out, draft->keys.data, draft->key_size);
	store_bytes_put(out, draft->values.data, draft->values.size);
	out->failed |= draft->keys.failed || draft->ends.failed || draft->values.failed;
	*key = (struct store_slice){draft->keys.data, draft->key_size};
	*value = (struct store_slice){out->data, out->size};
	draft->keys.size = draft->ends.size = draft->values.size = 0;
	draft->count = 0;
	return !out->failed;
}

void store_leaf_block_fini(struct store_leaf_block_draft *draft)
{
	store_bytes_fini(&draft->keys);
	store_bytes_fini(&draft->ends);
	store_bytes_fini(&draft->values);
	store_bytes_fini(&draft->value);
}

/* ---- and back ---- */

bool store_leaf_block_fits(struct store_slice key, struct store_slice value)
{
	return value.size >= STORE_LEAF_BLOCK_HEAD_BYTES + key.size && store_load16(value.bytes + 4) > 0 &&
	       store_load16(value.bytes + 6) == key.size &&
	       memcmp(value.bytes + STORE_LEAF_BLOCK_HEAD_BYTES, key.bytes, key.size) == 0;
}

bool store_leaf_block_open(struct store_leaf_block *bundle, struct store_slice key, struct store_slice value)
{
	size_t head;

	if (!store_leaf_block_fits(key, value))
		return false;
	bundle->count = store_load16(value.bytes + 4);
	bundle->key_size = key.size;
	bundle->keys = value.bytes + STORE_LEAF_BLOCK_HEAD_BYTES;
	bundle->ends = bundle->keys + bundle->count * key.size;
	head = store_leaf_block_bytes(bundle->count, key.size, 0);
	if (head > value.size)
		return false;
	bundle->values = value.bytes + head;
	bundle->values_bytes = value.size - head;
	return true;
}

bool store_leaf_block_is_sound(
	const struct store_leaf_block *bundle, struct store_slice key, struct store_slice value)
{
	const struct store_slice directory = {value.bytes, value.size - bundle->values_bytes};
	struct store_slice one;

	if (!store_is_sealed(key, directory))
		return false;
	for (unsigned i = 0; i < bundle->count; i++)
		if (!store_leaf_block_value(bundle, i, &one) ||
			(i && store_key_compare(store_leaf_block_key(bundle, i - 1),
				      store_leaf_block_key(bundle, i)) >= 0))
			return false;
	return true;
}

unsigned store_leaf_block_search(const struct store_leaf_block *bundle, struct store_slice key)
{
	unsigned low = 0, high = bundle->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (store_key_compare(store_leaf_block_key(bundle, middle), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
