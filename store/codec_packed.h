/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_packed.h - PACKED, of which the bodies of codec.h are made: each value's low bits, and for the few
 * that do not fit, where they are and what is above. Not for others.
 */
#ifndef STORE_CODEC_PACKED_H
#define STORE_CODEC_PACKED_H

#include "store/codec.h"

#define STORE_CODEC_BINS 65u /* widths 0..64 */

/* How a set of values would be PACKED best; `size` is exact but for exceptions of mixed sizes. */
struct store_codec_packed {
	unsigned width;
	unsigned exceptions;
	size_t size;
};

/* Counts bit widths into bins[0..widest]; gives the widest. */
unsigned store_codec_widths(const uint64_t *values, unsigned count, uint16_t *bins);
/* The width for which bits and exceptions together are smallest, of `count` values counted so. */
struct store_codec_packed store_codec_plan_widths(const uint16_t *bins, unsigned widest, unsigned count);
struct store_codec_packed store_codec_plan_packed(const uint64_t *values, unsigned count);
void store_codec_put_packed(
	struct store_bytes *out, const uint64_t *values, unsigned count, struct store_codec_packed plan);
/* With `values` NULL it only passes over the bytes. */
bool store_codec_get_packed(struct store_input *input, uint64_t *values, unsigned count);

/* Where the values are that have bits above `width`, which is below 64, at most 255 of them; how many. There
 * is room for `count` positions. */
unsigned store_codec_above(uint8_t *positions, const uint64_t *values, unsigned count, unsigned width);

#endif
