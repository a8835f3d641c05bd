/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - packs the low bits of integers: 256 values in eight lanes that vector registers load directly,
 * fewer values as one bit string. The bytes are the same on every machine.
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
/* The string takes `size` bytes. */
void store_bits_put_string(uint8_t *to, const uint64_t *values, unsigned count, unsigned width);
void store_bits_get_string(
	const uint8_t *from, size_t size, uint64_t *values, unsigned count, unsigned width);

/* `count` values, 1..STORE_BLOCK_RECORDS, in the layout for that count. */
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
