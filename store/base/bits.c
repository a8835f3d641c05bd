/* SPDX-License-Identifier: Apache-2.0 */
/* bits.c - see bits.h. */
#include "store/base/bits.h"

#include <string.h>

#include "store/base/avx2.h"
#include "store/base/bytes.h"

bool store_is_plain;

#define LANES 8u
#define ROWS (STORE_BLOCK_RECORDS / LANES)

/* ---- 256 values in eight lanes ---- */

static void lanes_pack(uint8_t *to, const uint32_t *from, unsigned width)
{
	uint32_t word[LANES] = {0}, mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
	unsigned used = 0;

	for (unsigned row = 0; row < ROWS && width; row++, from += LANES) {
		for (unsigned l = 0; l < LANES; l++)
			word[l] |= (from[l] & mask) << used;
		used += width;
		if (used < 32)
			continue;
		memcpy(to, word, sizeof word);
		to += sizeof word;
		used -= 32;
		for (unsigned l = 0; l < LANES; l++)
			word[l] = used ? (from[l] & mask) >> (width - used) : 0;
	}
}

static void lanes_unpack(const uint8_t *from, uint32_t *to, unsigned width)
{
	uint32_t word[LANES], next[LANES], mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
	unsigned used = 32;

	memset(next, 0, sizeof next);
	for (unsigned row = 0; row < ROWS; row++, to += LANES) {
		if (used == 32) {
			memcpy(next, from, sizeof next);
			from += sizeof next;
			used = 0;
		}
		for (unsigned l = 0; l < LANES; l++)
			word[l] = next[l] >> used;
		if (used + width > 32) {
			memcpy(next, from, sizeof next);
			from += sizeof next;
			for (unsigned l = 0; l < LANES; l++)
				word[l] |= next[l] << (32 - used);
			used = used + width - 32;
		} else {
			used += width;
		}
		for (unsigned l = 0; l < LANES; l++)
			to[l] = word[l] & mask;
	}
}

static inline void block_pack(uint8_t *to, const uint64_t *values, unsigned width)
{
	uint32_t half[STORE_BLOCK_RECORDS];
	unsigned low = width < 32 ? width : 32;

	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		half[i] = (uint32_t)values[i];
	lanes_pack(to, half, low);
	if (width <= 32)
		return;
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		half[i] = (uint32_t)(values[i] >> 32);
	lanes_pack(to + store_bits_size(32, STORE_BLOCK_RECORDS), half, width - 32);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void block_pack_wide(uint8_t *to, const uint64_t *values, unsigned width)
{
	block_pack(to, values, width);
}
#endif

void store_bits_put_block(uint8_t *to, const uint64_t *values, unsigned width)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		block_pack_wide(to, values, width);
		return;
	}
#endif
	block_pack(to, values, width);
}

static void block_unpack(const uint8_t *from, uint64_t *values, unsigned width)
{
	uint32_t half[STORE_BLOCK_RECORDS];

	lanes_unpack(from, half, width < 32 ? width : 32);
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		values[i] = half[i];
	if (width <= 32)
		return;
	lanes_unpack(from + store_bits_size(32, STORE_BLOCK_RECORDS), half, width - 32);
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		values[i] |= (uint64_t)half[i] << 32;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void block_unpack_wide(const uint8_t *from, uint64_t *values, unsigned width)
{
	block_unpack(from, values, width);
}
#endif

void store_bits_get_block(const uint8_t *from, uint64_t *values, unsigned width)
{
	if (!width) {
		memset(values, 0, STORE_BLOCK_RECORDS * sizeof *values);
		return;
	}
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		block_unpack_wide(from, values, width);
		return;
	}
#endif
	block_unpack(from, values, width);
}

/* ---- fewer than 256 values: a string of bits ---- */

void store_bits_put_string(uint8_t *to, const uint64_t *values, unsigned count, unsigned width)
{
	uint64_t word = 0, mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
	unsigned used = 0;

	for (unsigned i = 0; i < count && width; i++) {
		uint64_t value = values[i] & mask;

		word |= value << used;
		used += width;
		if (used < 64)
			continue;
		memcpy(to, &word, sizeof word);
		to += sizeof word;
		used -= 64;
		word = used ? value >> (width - used) : 0;
	}
	memcpy(to, &word, (used + 7) / 8);
}

/* Eight bytes hold a value of up to 57 bits wherever it begins; behind the last eight zeros stand in for what
 * is not the string's. */
static void get_narrow(const uint8_t *from, size_t size, uint64_t *values, unsigned count, unsigned width)
{
	const uint64_t mask = ((uint64_t)1 << width) - 1;
	const size_t last = size < 8 ? 0 : size - 8;
	uint8_t tail[24] = {0};
	unsigned i = 0, bit = 0;

	for (; i < count && bit / 8 < last; i++, bit += width)
		values[i] = store_load64(from + bit / 8) >> bit % 8 & mask;
	memcpy(tail, from + last, size - last);
	for (; i < count; i++, bit += width)
		values[i] = store_load64(tail + (bit / 8 - last)) >> bit % 8 & mask;
}

/* The last values are read byte by byte, so that nothing behind the string is touched. */
static void get_broad(const uint8_t *from, size_t size, uint64_t *values, unsigned count, unsigned width)
{
	const uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;

	for (unsigned i = 0; i < count; i++) {
		size_t bit = (size_t)i * width, at = bit / 8;
		uint8_t window[16] = {0};
		uint64_t low, high;

		if (size - at >= 9)
			memcpy(window, from + at, 9);
		else
			memcpy(window, from + at, size - at);
		low = store_load64(window);
		high = window[8];
		values[i] = (low >> bit % 8 | (bit % 8 ? high << (64 - bit % 8) : 0)) & mask;
	}
}

void store_bits_get_string(const uint8_t *from, size_t size, uint64_t *values, unsigned count, unsigned width)
{
	if (width <= 57)
		get_narrow(from, size, values, count, width);
	else
		get_broad(from, size, values, count, width);
}
