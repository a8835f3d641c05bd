/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - the low bits of integers, side by side: 256 values in eight lanes that vector registers read as
 * they lie, fewer as one string. The same bytes on every machine.
 */
#ifndef STORE_BITS_H
#define STORE_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "store/base/codec.h"

/* Bytes that the low `width` bits of `count` values take. */
static inline size_t store_bits_size(unsigned width, unsigned count)
{
	return ((size_t)width * count + 7) / 8;
}

/* STORE_BLOCK_RECORDS values; `width` is 0..64. */
void store_bits_put_block(uint8_t *to, const uint64_t *values, unsigned width);
void store_bits_get_block(const uint8_t *from, uint64_t *values, unsigned width);
/* `size` bytes hold the string. */
void store_bits_put_string(uint8_t *to, const uint64_t *values, unsigned count, unsigned width);
void store_bits_get_string(
	const uint8_t *from, size_t size, uint64_t *values, unsigned count, unsigned width);

/* `count` values, 1..STORE_BLOCK_RECORDS, as so many lie. */
static inline void store_bits_put(uint8_t *to, const uint64_t *values, unsigned count, unsigned width)
{
	if (count == STORE_BLOCK_RECORDS)
		store_bits_put_block(to, values, width);
	else
		store_bits_put_string(to, values, count, width);
}

static inline void store_bits_get(const uint8_t *from, uint64_t *values, unsigned count, unsigned width)
{
	if (count == STORE_BLOCK_RECORDS)
		store_bits_get_block(from, values, width);
	else
		store_bits_get_string(from, store_bits_size(width, count), values, count, width);
}

#endif
