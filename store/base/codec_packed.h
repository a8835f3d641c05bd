/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_packed.h - PACKED, of which the bodies of codec.h are made: each value's low bits, and for the few
 * that do not fit, where they are and what is above. Not for others.
 */
#ifndef STORE_CODEC_PACKED_H
#define STORE_CODEC_PACKED_H

#include "store/base/codec.h"

#define STORE_CODEC_BINS 65u /* widths 0..64 */

/* What SPLIT must save to be taken, in bytes: its exceptions are slower to read than bits. */
#define STORE_CODEC_SPLIT_SHARE 32u /* so much of all */
#define STORE_CODEC_SPLIT_EACH 3u   /* and one for so many exceptions */

/* How a set of values would be PACKED best; `size` is exact but for exceptions of mixed sizes. */
struct store_codec_packed {
	unsigned width;
	unsigned exceptions;
	size_t size;
};

/* How many values have so many bits, for lowest < bits <= widest. Packed to `lowest` bits or fewer they are
 * not smaller than to more, neither PACKED nor SPLIT (codec.c). */
struct store_codec_widths {
	uint16_t bins[STORE_CODEC_BINS];
	unsigned widest, lowest;
};
void store_codec_count(struct store_codec_widths *widths, const uint64_t *values, unsigned count);
/* The width for which bits and exceptions together are smallest, of `count` values counted so; the bins are
 * those behind `lowest`. */
struct store_codec_packed store_codec_plan_widths(
	const uint16_t *bins, unsigned widest, unsigned lowest, unsigned count);
struct store_codec_packed store_codec_plan_packed(const uint64_t *values, unsigned count);
void store_codec_put_packed(
	struct store_bytes *out, const uint64_t *values, unsigned count, struct store_codec_packed plan);
/* With `values` NULL it only passes over the bytes. */
bool store_codec_get_packed(struct store_input *input, uint64_t *values, unsigned count);

/* Where `exceptions` of `count` values are, in SPLIT: their positions, or a bit for each value if that is
 * less. */
static inline unsigned store_codec_where_size(unsigned count, unsigned exceptions)
{
	return exceptions < (count + 7) / 8 ? exceptions : (count + 7) / 8;
}

/* Where the values are that have bits above `width`, which is below 64, at most 255 of them; how many. There
 * is room for `count` positions. */
unsigned store_codec_above(uint8_t *positions, const uint64_t *values, unsigned count, unsigned width);

#endif
