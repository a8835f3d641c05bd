/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - encodes and decodes keys of the LMDB file.
 */
#include "store/key.h"

#include <endian.h>
#include <string.h>

#include "store/store.h"

static void put_be32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof value);
}

static void put_be64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof value);
}

static uint32_t get_be32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof value);
	return be32toh(value);
}

static uint64_t get_be64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof value);
	return be64toh(value);
}

void store_key_chunk_put(uint8_t key[STORE_KEY_CHUNK_BYTES], const struct store_key_chunk *from)
{
	put_be32(key, from->stream);
	key[4] = from->track;
	put_be64(key + 5, from->bucket_ns);
	key[13] = (uint8_t)(STORE_SHIFT_MAX - from->shift);
	key[14] = (uint8_t)(from->sequence >> 8);
	key[15] = (uint8_t)from->sequence;
}

bool store_key_chunk_get(struct store_key_chunk *to, const uint8_t *key, size_t size)
{
	if (size != STORE_KEY_CHUNK_BYTES || key[4] >= STORE_TRACK_COUNT || key[13] > STORE_SHIFT_MAX)
		return false;
	to->stream = get_be32(key);
	to->track = key[4];
	to->bucket_ns = get_be64(key + 5);
	to->shift = (uint8_t)(STORE_SHIFT_MAX - key[13]);
	to->sequence = (uint16_t)(key[14] << 8 | key[15]);
	return store_bucket_of(to->bucket_ns, to->shift) == to->bucket_ns;
}

void store_key_rollup_put(uint8_t key[STORE_KEY_ROLL_BYTES], const struct store_key_rollup *from)
{
	put_be32(key, from->stream);
	key[4] = from->kind;
	put_be64(key + 5, from->begin_ns);
	key[13] = (uint8_t)(STORE_SHIFT_MAX - from->shift);
}

bool store_key_rollup_get(struct store_key_rollup *to, const uint8_t *key, size_t size)
{
	if (size != STORE_KEY_ROLL_BYTES || key[13] > STORE_SHIFT_MAX)
		return false;
	to->stream = get_be32(key);
	to->kind = key[4];
	to->begin_ns = get_be64(key + 5);
	to->shift = (uint8_t)(STORE_SHIFT_MAX - key[13]);
	return store_bucket_of(to->begin_ns, to->shift) == to->begin_ns;
}

void store_key_id_put(uint8_t key[STORE_KEY_ID_BYTES], uint32_t id)
{
	put_be32(key, id);
}

bool store_key_id_get(uint32_t *id, const uint8_t *key, size_t size)
{
	if (size != STORE_KEY_ID_BYTES)
		return false;
	*id = get_be32(key);
	return true;
}

void store_key_symbol_put(uint8_t key[STORE_KEY_SYMBOL_BYTES], uint32_t module, uint64_t offset)
{
	put_be32(key, module);
	put_be64(key + 4, offset);
}

bool store_key_symbol_get(uint32_t *module, uint64_t *offset, const uint8_t *key, size_t size)
{
	if (size != STORE_KEY_SYMBOL_BYTES)
		return false;
	*module = get_be32(key);
	*offset = get_be64(key + 4);
	return true;
}
