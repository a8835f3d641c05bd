/* SPDX-License-Identifier: Apache-2.0 */
/* zstd_block.c - see zstd_block.h. */
#include "store/catalog/zstd_block.h"

#include <zstd.h>

#include "store/key.h"

#define LEVEL 4
#define PAYS 8 /* a frame saves so much of a share */

bool store_zstd_block_packs_nothing;

bool store_zstd_block_has(enum store_tree_id tree)
{
	return tree == STORE_TREE_TEXT || tree == STORE_TREE_CONTEXT || tree == STORE_TREE_SYMBOL;
}

/* ---- compressing ---- */

static uint32_t module_of(const uint8_t *key, size_t size)
{
	uint32_t module = 0;
	uint64_t offset;

	store_key_symbol_get(&module, &offset, key, size);
	return module;
}

bool store_zstd_block_is_full(
	const struct store_zstd_block *block, enum store_tree_id tree, struct store_slice key, size_t size)
{
	return block->entries.size &&
	       (block->entries.size + size > STORE_ZSTD_BLOCK_BYTES ||
		       (tree == STORE_TREE_SYMBOL &&
			       module_of(block->key, block->key_size) != module_of(key.bytes, key.size)));
}

bool store_zstd_block_take(struct store_zstd_block *block, enum store_tree_id tree, struct store_slice key,
	struct store_slice value)
{
	struct store_input input = store_input_sealed(value, key.bytes, key.size);
	uint32_t module;
	uint64_t offset;

	if (input.bad || key.size > sizeof block->key)
		return false;
	if (!block->entries.size) {
		memcpy(block->key, key.bytes, key.size);
		block->key_size = key.size;
	}
	if (tree == STORE_TREE_SYMBOL) {
		if (!store_key_symbol_get(&module, &offset, key.bytes, key.size))
			return false;
		store_bytes_put_varint(&block->entries, block->entries.size ? offset - block->offset : 0);
		store_bytes_put_varint(&block->entries, (uint64_t)(input.end - input.at));
		block->offset = offset;
	}
	store_bytes_put(&block->entries, input.at, (size_t)(input.end - input.at));
	return true;
}

bool store_zstd_block_finish(struct store_zstd_block *block)
{
	const struct store_bytes *entries = &block->entries;
	struct store_bytes *value = &block->value;
	size_t most = ZSTD_compressBound(entries->size), size = SIZE_MAX;
	uint8_t *place;

	store_bytes_begin_sealed(value);
	store_bytes_put_varint(value, entries->size);
	place = store_bytes_reserve(value, most);
	if (place && entries->size <= STORE_ZSTD_BLOCK_PACKED_MAX && !store_zstd_block_packs_nothing)
		size = ZSTD_compress(place, most, entries->data, entries->size, LEVEL);
	if (ZSTD_isError(size) || size > entries->size - entries->size / PAYS)
		store_bytes_put(value, entries->data, entries->size);
	else
		value->size += size;
	store_bytes_seal(value, block->key, block->key_size);
	value->failed |= entries->failed;
	block->entries.size = 0;
	return !value->failed;
}

void store_zstd_block_fini(struct store_zstd_block *block)
{
	store_bytes_fini(&block->entries);
	store_bytes_fini(&block->value);
}

/* ---- and back ---- */

/* The frame, or the entries themselves, to *input. */
static size_t size_of(struct store_input *input)
{
	uint64_t size = store_input_varint(input);
	bool is_plain = size == (uint64_t)(input->end - input->at);

	return input->bad || (!is_plain && size > STORE_ZSTD_BLOCK_PACKED_MAX) ? 0 : (size_t)size;
}

size_t store_zstd_block_size(struct store_input input)
{
	return size_of(&input);
}

bool store_zstd_block_unpack(struct store_input input, struct store_bytes *entries)
{
	size_t size = size_of(&input), left = (size_t)(input.end - input.at);
	uint8_t *place;

	entries->size = 0;
	place = size ? store_bytes_reserve(entries, size) : NULL;
	if (!place)
		return false;
	entries->size = size;
	if (left == size)
		memcpy(place, input.at, left);
	return left == size || ZSTD_decompress(place, size, input.at, left) == size;
}
