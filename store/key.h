/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - the keys of the LMDB file, big-endian so that byte order is the order of walking.
 *
 *   chunk   | stream u32 | track u8 | bucket_ns u64 | 63 - shift u8 | sequence u16 |  16 bytes
 *   roll    | stream u32 | kind u8 | begin_ns u64 | 63 - shift u8 |                 14 bytes
 *   context, text, module, metric, stream, open   | first id u32 |
 *   symbol  | module u32 | offset u64 |
 *   blob    | key u64 |
 *   meta    text
 *
 * The shift is inverted so that of two buckets that begin together the larger comes first.
 */
#ifndef STORE_KEY_H
#define STORE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_KEY_CHUNK_BYTES 16u
#define STORE_KEY_ROLL_BYTES 14u
#define STORE_KEY_ID_BYTES 4u
#define STORE_KEY_SYMBOL_BYTES 12u
#define STORE_KEY_BLOB_BYTES 8u
#define STORE_SHIFT_MAX 63u

struct store_key_chunk {
	uint64_t bucket_ns; /* a multiple of 2^shift */
	uint32_t stream;
	uint16_t sequence;
	uint8_t track;
	uint8_t shift;
};

void store_key_chunk_put(uint8_t key[STORE_KEY_CHUNK_BYTES], const struct store_key_chunk *from);
/* False: not a chunk's key. */
bool store_key_chunk_get(struct store_key_chunk *to, const uint8_t *key, size_t size);

/* A rollup sums the records in [begin_ns, begin_ns + 2^shift). */
struct store_key_rollup {
	uint64_t begin_ns; /* a multiple of 2^shift */
	uint32_t stream;   /* STORE_ROLLUP_ALL: of all streams */
	uint8_t kind;	   /* enum store_track whose records are summed */
	uint8_t shift;
};
#define STORE_ROLLUP_ALL UINT32_MAX

void store_key_rollup_put(uint8_t key[STORE_KEY_ROLL_BYTES], const struct store_key_rollup *from);
bool store_key_rollup_get(struct store_key_rollup *to, const uint8_t *key, size_t size);

void store_key_id_put(uint8_t key[STORE_KEY_ID_BYTES], uint32_t id);
bool store_key_id_get(uint32_t *id, const uint8_t *key, size_t size);

void store_key_symbol_put(uint8_t key[STORE_KEY_SYMBOL_BYTES], uint32_t module, uint64_t offset);
bool store_key_symbol_get(uint32_t *module, uint64_t *offset, const uint8_t *key, size_t size);

/* The bucket of 2^shift ns that holds the time. */
static inline uint64_t store_bucket_of(uint64_t time_ns, unsigned shift)
{
	return time_ns >> shift << shift;
}

#endif
