/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_packed.h - PACKED, the part that bodies of codec.h consist of: each value's low bits, and the
 * position and high part of each exception. For codec*.c only.
 */
#ifndef STORE_CODEC_PACKED_H
#define STORE_CODEC_PACKED_H

#include "store/base/codec.h"

#define STORE_CODEC_BINS 65u /* widths 0..64 */

/* Bytes that SPLIT must save to be chosen: its exceptions are slower to read than bits. */
#define STORE_CODEC_SPLIT_SHARE 32u /* this fraction of the whole */
#define STORE_CODEC_SPLIT_EACH 3u   /* plus one byte for so many exceptions */

/* The best PACKED for a set of values; `size` is exact, but an upper bound when exceptions differ in size. */
struct store_codec_packed {
	unsigned width;
	unsigned exceptions;
	size_t size;
};

/* How many values have each bit length, lowest < bits <= widest. A width below `lowest` never makes PACKED
 * or SPLIT smaller (codec.c). */
struct store_codec_widths {
	uint16_t bins[STORE_CODEC_BINS];
	unsigned widest, lowest;
};
void store_codec_count(struct store_codec_widths *widths, const uint64_t *values, unsigned count);
/* The width at which bits and exceptions take fewest bytes. `bins` are the counts above `lowest`. */
struct store_codec_packed store_codec_plan_widths(
	const uint16_t *bins, unsigned widest, unsigned lowest, unsigned count);
struct store_codec_packed store_codec_plan_packed(const uint64_t *values, unsigned count);
void store_codec_put_packed(
	struct store_bytes *out, const uint64_t *values, unsigned count, struct store_codec_packed plan);
/* `values` NULL: only skips the bytes. */
bool store_codec_get_packed(struct store_input *input, uint64_t *values, unsigned count);

/* Bytes of the positions of `exceptions` of `count` values in SPLIT: position bytes or a bitmap, whichever
 * is smaller. */
static inline unsigned store_codec_where_size(unsigned count, unsigned exceptions)
{
	return exceptions < (count + 7) / 8 ? exceptions : (count + 7) / 8;
}

/* Finds the values with bits above `width` (below 64), at most 255, and returns how many. `positions` has
 * room for `count`. */
unsigned store_codec_above(uint8_t *positions, const uint64_t *values, unsigned count, unsigned width);

#endif
